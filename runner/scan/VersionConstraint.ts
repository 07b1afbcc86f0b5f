import { Result } from "effect"

const single =
  /^(=|!=|>=|<=|~>|>|<)?[ \t]*v?(\d{1,20}(?:\.\d{1,20}){0,9}(?:-[0-9A-Za-z.-]{1,100})?(?:\+[0-9A-Za-z.-]{1,100})?)$/
const maxLength = 500

/**
 * Splits a version constraint into its parts, each an operator and a version, or a version alone. Fails with the invalid part.
 */
export const parseVersionConstraint = (text: string): Result.Result<ReadonlyArray<string>, string> => {
  if (text.length > maxLength) return Result.fail(`it is longer than ${maxLength} characters`)
  if (text.trim() === "") return Result.fail("it is empty")
  return Result.all(
    text.split(",").map((part) => {
      const [found, operator, version] = single.exec(part.trim()) ?? []
      if (found === undefined || version === undefined)
        return Result.fail(`${JSON.stringify(part.trim())} is not a constraint`)
      return Result.succeed(operator === undefined ? version : `${operator} ${version}`)
    })
  )
}

/** Returns the first constraint that contains a prerelease. */
export const prereleaseIn = (constraints: ReadonlyArray<string>): string | undefined =>
  constraints.find((constraint) => constraint.includes("-"))

/** Like `parseVersionConstraint`, but for provider versions, where the tools accept fewer forms. */
export const parseProviderConstraint = (text: string): Result.Result<ReadonlyArray<string>, string> =>
  /(?:^|[^0-9A-Za-z.-])v\d/.test(text)
    ? Result.fail("a version has no v before it")
    : Result.filterOrFail(
        parseVersionConstraint(text),
        (constraints) => constraints.every((constraint) => segmentsOf(constraint.split(" ").at(-1) ?? "").length <= 3),
        () => "a version has at most three numbers"
      )

const segmentsOf = (version: string): ReadonlyArray<bigint> =>
  (version.split(/[-+]/, 1)[0] ?? "").split(".").map((segment) => BigInt(segment))

const compareSegments = (left: ReadonlyArray<bigint>, right: ReadonlyArray<bigint>): number => {
  for (let index = 0; index < Math.max(left.length, right.length); index++) {
    const [a, b] = [left[index] ?? 0n, right[index] ?? 0n]
    if (a !== b) return a < b ? -1 : 1
  }
  return 0
}

const admits = (constraint: string, version: ReadonlyArray<bigint>): boolean => {
  const [, operator = "=", text] = single.exec(constraint) ?? []
  // Refuse a constraint that contains a prerelease, as the tools do whatever their own version.
  if (text === undefined || text.includes("-")) return false
  const wanted = segmentsOf(text)
  const order = compareSegments(version, wanted)
  switch (operator) {
    case "!=":
      return order !== 0
    case ">":
      return order > 0
    case "<":
      return order < 0
    case ">=":
      return order >= 0
    case "<=":
      return order <= 0
    case "~>":
      // A constraint that has more parts than the version never matches.
      return (
        order >= 0 &&
        wanted.length <= version.length &&
        wanted.slice(0, -1).every((segment, index) => version[index] === segment)
      )
    default:
      return order === 0
  }
}

/**
 * Returns true if a tool version satisfies constraints from `parseVersionConstraint`. Like the tools, treats a prerelease as
 * the version that it precedes.
 */
export const admitsVersion = (constraints: ReadonlyArray<string>, version: string): boolean => {
  const segments = segmentsOf(version)
  return constraints.every((constraint) => admits(constraint, segments))
}
