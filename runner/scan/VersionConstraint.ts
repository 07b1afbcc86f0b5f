import { Result } from "effect"

const single =
  /^(=|!=|>=|<=|~>|>|<)?[ \t]*v?(\d{1,20}(?:\.\d{1,20}){0,9}(?:-[0-9A-Za-z.-]{1,100})?(?:\+[0-9A-Za-z.-]{1,100})?)$/
const maxLength = 500

/** The parts of a version constraint, each as `operator version` or a plain version. Fails with the part that is none. */
export const parseVersionConstraint = (text: string): Result.Result<ReadonlyArray<string>, string> => {
  if (text.length > maxLength) return Result.fail(`it is longer than ${maxLength} characters`)
  if (text.trim() === "") return Result.succeed([])
  return Result.all(
    text.split(",").map((part) => {
      const [found, operator, version] = single.exec(part.trim()) ?? []
      if (found === undefined || version === undefined)
        return Result.fail(`${JSON.stringify(part.trim())} is not a constraint`)
      return Result.succeed(operator === undefined ? version : `${operator} ${version}`)
    })
  )
}
