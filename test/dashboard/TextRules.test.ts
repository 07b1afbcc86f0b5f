import { describe, expect, test } from "bun:test"
import { Glob } from "bun"
import { counted } from "../../src/dashboard/words/Format.ts"

const dashboard = new URL("../../src/dashboard/", import.meta.url).pathname

/** Finds every exported dictionary of the dashboard: an object with `en` and `ja`. */
const dictionaries = await Promise.all(
  [...new Glob("**/*Words.ts").scanSync(dashboard), "words/Vocabulary.ts"].toSorted().map(async (file) => {
    const exported: Readonly<Record<string, unknown>> = await import(`${dashboard}${file}`)
    return Object.values(exported).flatMap((value) =>
      typeof value === "object" && value !== null && "en" in value && "ja" in value
        ? [{ file, en: value.en, ja: value.ja }]
        : []
    )
  })
).then((found) => found.flat())

type Texts = ReadonlyArray<readonly [path: string, text: string]>

/** Lists all texts in a dictionary. Functions are called with `given` for each of their parameters. */
const texts = (value: unknown, path: string, given: ReadonlyArray<unknown>): Texts => {
  if (typeof value === "string") return [[path, value]]
  if (typeof value === "function") {
    try {
      const text: unknown = value(...given)
      return typeof text === "string" ? [[path, text]] : []
    } catch {
      // The function takes parameters of other types than the given values.
      return []
    }
  }
  if (typeof value !== "object" || value === null) return []
  return Object.entries(value).flatMap(([key, inner]) => texts(inner, `${path}.${key}`, given))
}

const all = (language: "en" | "ja", given: ReadonlyArray<unknown> = ["A", "B", "C"]): Texts =>
  dictionaries.flatMap((dictionary) => texts(dictionary[language], dictionary.file, given))

const offending = (found: Texts, isWrong: (text: string) => boolean) => found.filter(([, text]) => isWrong(text))

describe("English counts", () => {
  test("English counts agree with their noun", () => {
    expect([0, 1, 2, 1204].map((count) => counted(count, "file"))).toEqual([
      "0 files",
      "1 file",
      "2 files",
      "1,204 files"
    ])
    expect(counted(1, "entry was", "entries were")).toBe("1 entry was")
  })

  test("English counts never combine a plural noun with one, nor a singular noun with two", () => {
    const one = all("en", [1, 1, 1])
    expect(one.length).toBeGreaterThan(1500)
    expect(
      offending(one, (text) =>
        /(?<![\d#.:] ?)\b1 (?!(?:is|was|has|does|without)\b)(?:[a-z]+ )?[a-z]{2,}s\b(?! )/.test(text)
      )
    ).toEqual([])
    expect(
      offending(all("en", [2, 2, 2]), (text) =>
        /\b2 (?:file|run|capsule|line|resource|day|minute|hour|entry)\b/.test(text)
      )
    ).toEqual([])
  })
})

describe("English texts", () => {
  test("English texts write product nouns in lower case within a sentence", () => {
    const nouns = /(?<=[A-Za-z,] )(?:Capsule|Workspace|Source|Connection|Run|Output|Interface)s?\b/
    expect(offending(all("en"), (text) => nouns.test(text))).toEqual([])
  })
})

describe("Japanese texts", () => {
  test("Japanese texts end every sentence politely or with a noun", () => {
    const plain = /(?:る|た|う|く|ぐ|す|つ|ぶ|む|い|だ|か)$/
    const polite = /(?:です|ます|ません|ました|でした|でしょう|ください|ましょう)か?$/
    const sentences = all("ja").flatMap(([path, text]) =>
      text
        .split("。")
        .slice(0, -1)
        .map((sentence) => [path, sentence.replace(/[）」)]$/, "")] as const)
    )
    expect(sentences.length).toBeGreaterThan(400)
    expect(offending(sentences, (sentence) => plain.test(sentence) && !polite.test(sentence))).toEqual([])
  })

  test("Japanese texts use one word per concept", () => {
    const strangers = /オペレーター|所有者|Capsule|ブラウザ(?!ー)|サーバ(?!ー)|フォルダ(?!ー)|わかって|：/
    expect(offending(all("ja"), (text) => strangers.test(text))).toEqual([])
  })

  test("Japanese texts use a separate verb for each of stopping a run, withdrawing a plan and deleting a resource", () => {
    const wrong = all("ja").filter(
      ([path, text]) =>
        (text.includes("キャンセル") && path !== "words/Vocabulary.ts.cancel") ||
        // Only left-over states are discarded.
        (text.includes("破棄") && !/left.over|uncertain/i.test(path))
    )
    expect(wrong).toEqual([])
  })
})
