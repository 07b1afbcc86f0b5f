import { closeSync, openSync, readFileSync, readSync } from "node:fs"

const region = /^([0-9a-f]+)-([0-9a-f]+) rw\S* \S+ \S+ \S+/
const step = 16 * 1024 * 1024

/** Finds which of the strings occur in a process's memory, encoded with one or two bytes per character. */
export const wordsInMemory = (pid: number, words: ReadonlyArray<string>): ReadonlyArray<string> => {
  const longest = 2 * Math.max(...words.map(({ length }) => length))
  const memory = openSync(`/proc/${pid}/mem`, "r")
  const found = new Set<string>()
  const buffer = Buffer.alloc(step + longest)
  try {
    for (const line of readFileSync(`/proc/${pid}/maps`, "latin1").split("\n")) {
      const [, from, to] = region.exec(line) ?? []
      if (from === undefined || to === undefined) continue
      const end = Number.parseInt(to, 16)
      for (let at = Number.parseInt(from, 16); at < end; at += step) {
        let size = 0
        try {
          size = readSync(memory, buffer, 0, Math.min(buffer.length, end - at), at)
        } catch {
          // The process has released the memory region since the region was listed.
          continue
        }
        const read = buffer.subarray(0, size)
        for (const word of words) {
          if (read.includes(word) || read.includes(Buffer.from(word, "utf16le"))) found.add(word)
        }
      }
    }
  } finally {
    closeSync(memory)
  }
  return words.filter((word) => found.has(word))
}
