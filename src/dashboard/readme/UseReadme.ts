import { useEffect, useState } from "react"
import type { ReadmeTree } from "./ReadmeTree.ts"

/** The URL of the worker's script, as given in the page. */
const address = (): string | undefined => document.getElementById("root")?.dataset["readmeWorker"]

/** Parses Markdown off the main thread. Returns `undefined` until the result is ready, and `null` if the parser failed. */
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
