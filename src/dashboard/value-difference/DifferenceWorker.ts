import type { DifferenceReply, DifferenceRequest } from "./DifferenceMessages.ts"
import { paged } from "./DifferencePages.ts"
import { valueDifference } from "./ValueDifference.ts"

// Runs in a worker, because comparing a policy of one megabyte would block the page for too long.
const known = new Map<number, ReturnType<typeof paged>>()

// No target origin is needed, because a worker responds only to its own page.
const reply = (message: DifferenceReply) => self.postMessage(message, {})

self.addEventListener("message", ({ data: request }: MessageEvent<DifferenceRequest>) => {
  if (request.kind === "forget") {
    known.delete(request.of)
    return
  }
  if (request.kind === "compare") {
    const difference = paged(valueDifference(request.pair))
    known.set(request.of, difference)
    reply({ kind: "compared", of: request.of, difference: difference.first })
    return
  }
  const page = known.get(request.of)?.page(request.from, request.fold) ?? { lines: [], length: 0 }
  reply({ kind: "page", request: request.request, page })
})
