import type { SequencePage } from "../../actors/ledger/run/Runs.ts"
import type { RunFrame, RunSequence } from "./RunFrames.ts"

/** Maximum size of a frame in bytes. A larger entry gets a frame to itself. */
export const maxFrameBytes = 64 * 1024

const fields = { events: "events", logs: "entries" } as const

/** Encodes a page as frames of at most `maxFrameBytes`, each `{"events":[...]}` or `{"entries":[...]}`. */
export const framesOf = (
  sequence: RunSequence,
  page: SequencePage<{ readonly seq: number }>
): ReadonlyArray<RunFrame> => {
  const head = `{"${fields[sequence]}":[`
  const frames: Array<RunFrame> = []
  let texts: Array<string> = []
  let bytes = 0
  let last = 0
  const flush = () => {
    if (texts.length === 0) return
    frames.push({ text: `${head}${texts.join(",")}]}`, last })
    texts = []
    bytes = 0
  }
  for (const item of page.items) {
    const text = JSON.stringify(item)
    const size = Buffer.byteLength(text) + 1
    if (bytes + size + head.length + 2 > maxFrameBytes) flush()
    texts.push(text)
    bytes += size
    last = item.seq
  }
  flush()
  return frames
}
