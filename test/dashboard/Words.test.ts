import { describe, expect, test } from "bun:test"
import { actionWords } from "../../src/dashboard/app/ActionWords.ts"
import { appWords } from "../../src/dashboard/app/Words.ts"
import { signedOutWords } from "../../src/dashboard/signed-out/Words.ts"
import { formWords } from "../../src/dashboard/forms/Words.ts"
import { signInWords } from "../../src/dashboard/screens/account/SignInWords.ts"
import { accountWords } from "../../src/dashboard/screens/account/Words.ts"
import { capsuleWords } from "../../src/dashboard/screens/capsule/Words.ts"
import { historyWords } from "../../src/dashboard/screens/capsule/HistoryWords.ts"
import { inputWords } from "../../src/dashboard/screens/capsule/InputWords.ts"
import { readmeWords } from "../../src/dashboard/screens/capsule/ReadmeWords.ts"
import { credentialWords } from "../../src/dashboard/screens/capsule/CredentialWords.ts"
import { reAdoptionWords } from "../../src/dashboard/screens/capsule/ReAdoptionWords.ts"
import { importConfirmationWords } from "../../src/dashboard/screens/capsule/ImportConfirmationWords.ts"
import { resourceWords } from "../../src/dashboard/screens/capsule/ResourceWords.ts"
import { releaseWords } from "../../src/dashboard/screens/capsule/ReleaseWords.ts"
import { connectionWords } from "../../src/dashboard/screens/connections/Words.ts"
import { graphWords } from "../../src/dashboard/screens/graph/Words.ts"
import { attentionWords } from "../../src/dashboard/screens/home/AttentionWords.ts"
import { homeWords } from "../../src/dashboard/screens/home/Words.ts"
import { importWords } from "../../src/dashboard/screens/install/ImportWords.ts"
import { installWords } from "../../src/dashboard/screens/install/Words.ts"
import { decisionWords } from "../../src/dashboard/screens/run/DecisionWords.ts"
import { diagnosisWords } from "../../src/dashboard/screens/run/DiagnosisWords.ts"
import { handOffWords } from "../../src/dashboard/screens/run/HandOffWords.ts"
import { logWords } from "../../src/dashboard/screens/run/LogWords.ts"
import { noticeWords } from "../../src/dashboard/screens/run/NoticeWords.ts"
import { differenceWords } from "../../src/dashboard/screens/run/DifferenceWords.ts"
import { paletteWords } from "../../src/dashboard/app/PaletteWords.ts"
import { resultWords } from "../../src/dashboard/screens/run/ResultWords.ts"
import { planBasisWords } from "../../src/dashboard/screens/run/PlanBasisWords.ts"
import { plannedRefWords } from "../../src/dashboard/screens/run/PlannedRef.tsx"
import { planEndWords } from "../../src/dashboard/screens/run/PlanEndWords.ts"
import { planWords } from "../../src/dashboard/screens/run/PlanWords.ts"
import { queueWords } from "../../src/dashboard/screens/run/QueueWords.ts"
import { whyWords } from "../../src/dashboard/screens/run/WhyWords.ts"
import { runWords } from "../../src/dashboard/screens/run/Words.ts"
import { runListWords } from "../../src/dashboard/screens/runs/RunListWords.ts"
import { sourceOptionsWords } from "../../src/dashboard/screens/source-options/Words.ts"
import { forgeWords } from "../../src/dashboard/screens/source/ForgeWords.ts"
import { sourceWords } from "../../src/dashboard/screens/sources/Words.ts"
import { workspaceWords } from "../../src/dashboard/screens/workspace/Words.ts"
import { commitWords } from "../../src/dashboard/ui/CommitWords.ts"
import { driftWords } from "../../src/dashboard/ui/DriftWords.ts"
import { vocabulary } from "../../src/dashboard/words/Vocabulary.ts"

const dictionaries = {
  actionWords,
  appWords,
  signedOutWords,
  formWords,
  accountWords,
  signInWords,
  handOffWords,
  capsuleWords,
  commitWords,
  credentialWords,
  reAdoptionWords,
  releaseWords,
  resourceWords,
  connectionWords,
  graphWords,
  homeWords,
  attentionWords,
  importConfirmationWords,
  historyWords,
  inputWords,
  readmeWords,
  whyWords,
  importWords,
  installWords,
  driftWords,
  paletteWords,
  runListWords,
  runWords,
  decisionWords,
  diagnosisWords,
  logWords,
  noticeWords,
  resultWords,
  differenceWords,
  planBasisWords,
  plannedRefWords,
  planEndWords,
  planWords,
  queueWords,
  sourceOptionsWords,
  forgeWords,
  sourceWords,
  workspaceWords,
  vocabulary
}

const leaves = (value: unknown, path: string): ReadonlyArray<readonly [string, string]> => {
  if (typeof value === "string") return [[path, value]]
  if (typeof value === "function") return [[path, String(value("A", "B"))]]
  if (typeof value !== "object" || value === null) return []
  return Object.entries(value).flatMap(([key, inner]) => leaves(inner, `${path}.${key}`))
}

/** Words that are deliberately the same in both languages. */
const shared: ReadonlySet<string> = new Set([
  "appWords.changeLanguage",
  "capsuleWords.tabs.readme",
  "readmeWords.title",
  "differenceWords.readings.json",
  "vocabulary.product",
  "vocabulary.runType",
  "vocabulary.trigger.webhook",
  "runWords.how.webhook",
  "sourceWords.webhook"
])
const japanese = /[\u3040-\u30ff\u4e00-\u9fff]/

describe("the dictionaries", () => {
  for (const [name, words] of Object.entries(dictionaries)) {
    test(`every string of ${name} exists in both languages and is written in its language`, () => {
      const english = new Map(leaves(words.en, name))
      const other = new Map(leaves(words.ja, name))
      expect([...other.keys()]).toEqual([...english.keys()])
      for (const [path, text] of other) {
        if (shared.has(path)) continue
        const own = english.get(path) ?? ""
        expect(text.trim()).not.toBe("")
        if (japanese.test(own)) throw new Error(`${path} is not English: ${own}`)
        // Texts that consist only of numbers and names need no translation.
        if (/[A-Za-z]{3}/.test(own.replace("undefined", ""))) expect([path, japanese.test(text)]).toEqual([path, true])
      }
    })
  }

  test("no English string promises or apologises", () => {
    for (const [name, words] of Object.entries(dictionaries)) {
      for (const [path, text] of leaves(words.en, name)) {
        expect([path, /\b(?:please|oops|sorry|simply|just click)\b/i.test(text)]).toEqual([path, false])
      }
    }
  })
})
