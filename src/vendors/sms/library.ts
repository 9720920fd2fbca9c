import type Twilio from 'twilio';

let loaded: Promise<typeof Twilio> | undefined;

/** Twilio's library, which takes a while to load: when it is first needed, and once. */
export function twilioLibrary(): Promise<typeof Twilio> {
  loaded ??= import('twilio').then(
    ({ default: library }) => library,
    (error) => {
      // Who needs it next tries again.
      loaded = undefined;
      throw error;
    },
  );
  return loaded;
}
