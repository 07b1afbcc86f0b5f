import { stripVTControlCharacters } from "node:util"

/** Output and exit code of a CI suite. */
export interface SuiteLog {
  readonly name: string
  readonly exitCode: number
  readonly log: string
}

interface Failure {
  readonly name: string
  readonly error: ReadonlyArray<string>
}

const mostLines = 60
const mostNamed = 20
const mostErrorLines = 15
const mostLastLines = 15
const widestLine = 240

// Matches the output formats of `bun test`, with or without GitHub's groups, of test:crash and of test:mutants.
const fileHeader = /^(?:::group::)?(\S+\.test\.tsx?):$/
const result = /^\((pass|fail|skip|todo)\) (.*?)(?: \[[\d.]+ms\])?$/
const hookOrTimeout = /^ {2}\^ /
const betweenTests = "# Unhandled error between tests"
const ruler = /^-{10,}$/
const crashFailure = /^FAILED {2}(.*)$/
const missedGuard = /^MISSED {2,}(.*)$/
const crashedProcess = /^✗ (.*)$/
const repeatedFailures = /^\d+ tests? failed:$/

const beginsError = (line: string) => /^(?:error|[A-Za-z]*Error)\b/.test(line)

/**
 * Returns all lines from the first error on, without the code excerpt that Bun prints above the error. Returns the last
 * lines if there is no error.
 */
const errorOf = (printed: ReadonlyArray<string>) => {
  const said = printed.filter((line) => line.trim() !== "")
  const at = said.findIndex(beginsError)
  return at === -1 ? said.slice(-mostErrorLines) : said.slice(at)
}

/** Returns every failure in a log, in order. */
const failuresIn = (lines: ReadonlyArray<string>): ReadonlyArray<Failure> => {
  const found: Array<Failure> = []
  let file = ""
  let printed: Array<string> = []
  for (const [at, line] of lines.entries()) {
    if (repeatedFailures.test(line)) break
    const header = fileHeader.exec(line)?.[1]
    const [, outcome, test] = result.exec(line) ?? []
    const special = crashFailure.exec(line)?.[1] ?? missedGuard.exec(line)?.[1] ?? crashedProcess.exec(line)?.[1]
    if (header !== undefined) file = header
    else if (outcome === "fail") {
      const after = lines.slice(at + 1, at + 2).filter((next) => hookOrTimeout.test(next))
      found.push({ name: `${file}: ${test}`, error: [...after.map((next) => next.trim()), ...errorOf(printed)] })
    } else if (special !== undefined) {
      const end = lines.findIndex((next, index) => index > at && !next.startsWith("    "))
      found.push({ name: special, error: lines.slice(at + 1, end === -1 ? undefined : end).map((next) => next.trim()) })
    } else if (line === betweenTests) {
      const end = lines.findIndex((next, index) => index > at + 1 && ruler.test(next))
      found.push({
        name: `${file}: outside of its tests`,
        error: errorOf(lines.slice(at + 2, end === -1 ? undefined : end))
      })
    } else if (outcome === undefined) {
      printed.push(line)
      continue
    }
    printed = []
  }
  return found
}

const cut = (line: string) => (line.length > widestLine ? `${line.slice(0, widestLine)}…` : line)

/**
 * Returns the failures of all suites in at most 60 lines, each with its suite, test and error. If there are many failures,
 * names take precedence over error texts: each failure gets only a few lines, and failures after the twentieth are only
 * counted. Empty if every suite exited with 0.
 */
export const failureSummary = (suites: ReadonlyArray<SuiteLog>): string => {
  const failed = suites
    .filter(({ exitCode }) => exitCode !== 0)
    .map(({ exitCode, log, name }) => {
      const lines = stripVTControlCharacters(log).split("\n")
      const failures = failuresIn(lines)
      const last = { name: "names no test; its last lines:", error: lines.filter((line) => line.trim() !== "") }
      return {
        title: `${name} ended with ${exitCode}`,
        failures: failures.length > 0 ? failures : [{ ...last, error: last.error.slice(-mostLastLines) }]
      }
    })
  const count = failed.reduce((sum, { failures }) => sum + failures.length, 0)
  const shown = Math.min(count, mostNamed)
  // Reserves one line per suite and per listed failure, and one line for the number of omitted failures.
  const room = mostLines - failed.length - shown - 1
  const each = Math.min(mostErrorLines, Math.floor(room / Math.max(1, shown)))
  let named = 0
  const report = failed.flatMap(({ failures, title }) => [
    title,
    ...failures.flatMap(({ error, name }) =>
      named++ < shown ? [`  ${name}`, ...error.slice(0, each).map((line) => `      ${line}`)] : []
    )
  ])
  return [...report, ...(count > shown ? [`  and ${count - shown} more`] : [])].map(cut).join("\n")
}
