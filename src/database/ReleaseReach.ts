const numbered = /^(?<major>\d+)\.(?<minor>\d+)\./

const numbersOf = (release: string) => {
  const { major, minor } = numbered.exec(release)?.groups ?? {}
  return major === undefined || minor === undefined ? undefined : { major: Number(major), minor: Number(minor) }
}

/**
 * Returns true if a server of release `own` can work on tables migrated by the newer release `last`. This requires that
 * `last` has the same or the next minor version. Migrations add only things that the previous minor release ignores, so
 * servers that share a database can be upgraded one after the other.
 */
export const isWithinReach = (own: string, last: string): boolean => {
  const [mine, other] = [numbersOf(own), numbersOf(last)]
  if (mine === undefined || other === undefined || mine.major !== other.major) return false
  return other.minor === mine.minor || other.minor === mine.minor + 1
}
