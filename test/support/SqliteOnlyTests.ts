/** Titles of tests that fail on PostgreSQL, each with the reason. `npm run test:postgres` expects exactly these failures. */
export const sqliteOnlyTests: ReadonlyMap<string, string> = new Map([
  [
    "events of an earlier release get positions in order of time, even after a crash, and an event records this",
    "opens a database of an earlier release"
  ]
])
