/** The first minor version of each line of Node that Prisma, and so the server, runs on; of those from 24 on it is every one. */
const firstOf = { 20: 19, 22: 12 };

/** Why this Node (`process.version`) does not do, in one sentence; undefined where it does. The same as `engines` of package.json. */
export function nodeFault(version) {
  const [major, minor] = version.replace('v', '').split('.').map(Number);
  if (major >= 24 || minor >= firstOf[major]) return undefined;
  return `it needs Node 20.19 or later of 20, 22.12 or later of 22, or 24 or later, and this is ${version}.`;
}
