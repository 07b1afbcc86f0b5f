import { Schema } from "effect"
import type { Page } from "playwright-core"

const Trace = Schema.fromJsonString(
  Schema.Struct({
    traceEvents: Schema.Array(
      Schema.Struct({
        name: Schema.String,
        pid: Schema.Int,
        tid: Schema.Int,
        /** CPU time in microseconds. Only complete tasks have this field. */
        tdur: Schema.optionalKey(Schema.Finite),
        args: Schema.optionalKey(Schema.Record(Schema.String, Schema.Unknown))
      })
    )
  })
)
const decode = Schema.decodeUnknownSync(Trace)

/**
 * Watches the page's main thread. The returned effect stops watching, and returns the longest task in milliseconds of CPU time.
 * Unlike the browser's long-task time, CPU time excludes other load on the machine.
 */
export const watchTasks = async (page: Page) => {
  const browser = page.context().browser()
  if (browser === null) throw new Error("The page has no browser.")
  await browser.startTracing(page, { categories: ["toplevel"] })
  return async (): Promise<number> => {
    const { traceEvents } = decode((await browser.stopTracing()).toString())
    const threads = new Set(
      traceEvents
        .filter(({ args, name }) => name === "thread_name" && args?.["name"] === "CrRendererMain")
        .map(({ pid, tid }) => `${pid} ${tid}`)
    )
    const tasks = traceEvents.filter(
      ({ name, pid, tid }) => name === "ThreadControllerImpl::RunTask" && threads.has(`${pid} ${tid}`)
    )
    if (tasks.length === 0) throw new Error("The trace holds no task of the page.")
    return Math.max(...tasks.map(({ tdur = 0 }) => tdur)) / 1000
  }
}
