import { createHash } from "node:crypto"
import { version } from "recheck/package.json"
import type { RegexLiteral } from "./RegexLiterals.ts"

const file = `${import.meta.dirname}/JudgedExpressions.json`

/**
 * Settings of the analysis. The analysis is purely static and counts steps, with a fixed seed and no time limit, so that the
 * verdicts are the same on a busy machine. An expression is rejected if some input of the maximum document length takes more
 * than 5,000 steps per character.
 */
export const budget = {
  timeout: null,
  attackTimeout: null,
  incubationTimeout: null,
  seedingTimeout: null,
  randomSeed: 0,
  maxAttackStringSize: 131_072,
  attackLimit: 131_072 * 5000,
  maxRepeatCount: 40
}

/** Identifies an expression and all other inputs to its verdict. A different analyser or budget needs a new verdict. */
export const judgementOf = ({ flags, source }: RegexLiteral): string =>
  createHash("sha256")
    .update(JSON.stringify([version, budget, source, flags]))
    .digest("base64url")
    .slice(0, 22)

/** True if `SVC_TEST_RECORD=1` is set: all expressions are analysed again, and the verdicts are recorded. */
export const isRecording = process.env["SVC_TEST_RECORD"] === "1"

const recorded: ReadonlySet<string> = new Set(isRecording ? [] : await Bun.file(file).json())

/** Returns true if a recorded analysis has found exactly this expression safe. A new analysis can take seconds. */
export const isJudgedSafe = (expression: RegexLiteral): boolean => recorded.has(judgementOf(expression))

export const record = (safe: ReadonlyArray<RegexLiteral>): Promise<number> =>
  Bun.write(file, `${JSON.stringify(safe.map(judgementOf).sort(), null, 2)}\n`)
