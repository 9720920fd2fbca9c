/** JSON as text: it goes to the client, or into the database, as it stands. */
export class Printed {
  constructor(readonly text: string) {}
}
