import * as fc from "fast-check"
import { blockKinds } from "./BlockSnippets.ts"
import { fileKinds } from "./FileSnippets.ts"

export type Files = Readonly<Record<string, string | Uint8Array>>

/** A small module, and the part of the language that it tests. */
export interface Snippet {
  readonly kind: string
  readonly files: Files
}

const kinds: ReadonlyArray<readonly [name: string, files: fc.Arbitrary<Files>]> = Object.entries({
  ...blockKinds,
  ...fileKinds
})

/** Draws distinct snippets of each kind in turn; the same seed draws the same snippets. Skips a kind once it is exhausted. */
export const snippets = (count: number, seed: number): ReadonlyArray<Snippet> => {
  const drawn = kinds.map(([kind, files], index) => {
    const samples = fc.sample(files, { seed: seed + index, numRuns: Math.ceil((4 * count) / kinds.length) })
    return [...new Map(samples.map((sample) => [textOf(sample), sample])).values()].map((sample) => ({
      kind,
      files: sample
    }))
  })
  const longest = Math.max(...drawn.map(({ length }) => length))
  return Array.from({ length: longest }, (_, round) => drawn.flatMap((ofKind) => ofKind[round] ?? []))
    .flat()
    .slice(0, count)
}

/** Returns the files as one text, for a report. */
export const textOf = (files: Files): string =>
  Object.entries(files)
    .map(([name, content]) => {
      const text = typeof content === "string" ? content : Buffer.from(content).toString("latin1")
      return `--- ${name}\n${JSON.stringify(text)}`
    })
    .join("\n")
