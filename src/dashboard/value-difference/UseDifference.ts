import { useEffect, useState } from "react"
import type { DifferenceReply, DifferenceRequest } from "./DifferenceMessages.ts"
import type { DrawnDifference, DrawnPage } from "./DifferencePages.ts"

/** A computed difference, and access to the rest of its lines. */
export interface OpenDifference {
  readonly difference: DrawnDifference
  readonly page: (from: number, fold?: number) => Promise<DrawnPage>
}

/** The URL of the worker's script, as given in the page. */
const address = (): string | undefined => document.getElementById("root")?.dataset["differenceWorker"]

let worker: Worker | undefined
let last = 0
const compared = new Map<number, (difference: DrawnDifference) => void>()
const pages = new Map<number, (page: DrawnPage) => void>()

const started = (): Worker | undefined => {
  const url = address()
  if (worker !== undefined || url === undefined) return worker
  worker = new Worker(url, { type: "module" })
  worker.addEventListener("message", ({ data: reply }: MessageEvent<DifferenceReply>) => {
    if (reply.kind === "compared") return compared.get(reply.of)?.(reply.difference)
    pages.get(reply.request)?.(reply.page)
    pages.delete(reply.request)
  })
  return worker
}

const send = (request: DifferenceRequest) => started()?.postMessage(request)

/** Compares the two values off the main thread. Returns `undefined` until the result is ready. */
export const useDifference = (name: string, before: unknown, after: unknown): OpenDifference | undefined => {
  const [open, setOpen] = useState<OpenDifference | undefined>(undefined)
  useEffect(() => {
    const of = ++last
    compared.set(of, (difference) =>
      setOpen({
        difference,
        page: (from, fold) =>
          new Promise((resolve) => {
            const request = ++last
            pages.set(request, resolve)
            send({ kind: "page", of, request, from, ...(fold === undefined ? {} : { fold }) })
          })
      })
    )
    send({ kind: "compare", of, pair: { name, before, after } })
    return () => {
      compared.delete(of)
      send({ kind: "forget", of })
    }
  }, [name, before, after])
  return open
}
