import { useEffect, useState } from "react"
import type { ReadmeTree } from "./ReadmeTree.ts"

/** The URL of the worker's script, which the page provides. */
const address = (): string | undefined => document.getElementById("root")?.dataset["readmeWorker"]

/** Parses Markdown off the main thread: `undefined` until that is done, `null` if the parser gave up. */
export const useReadme = (text: string): ReadmeTree | null | undefined => {
  const [tree, setTree] = useState<ReadmeTree | null | undefined>(undefined)
  useEffect(() => {
    const url = address()
    if (url === undefined) return
    const worker = new Worker(url, { type: "module" })
    worker.addEventListener("message", ({ data }: MessageEvent<ReadmeTree>) => setTree(data))
    worker.addEventListener("error", () => setTree(null))
    worker.postMessage(text, [])
    return () => worker.terminate()
  }, [text])
  return tree
}
