import { Console, Context, type Effect, Layer } from "effect"
import type { RunEvent, RunLogEntry } from "../../../schema/events/RunEvent.ts"

const details = (data: RunEvent["data"]): string => {
  const shown = Object.entries(data).filter(([, value]) => typeof value !== "object")
  return shown.map(([key, value]) => ` ${key}=${String(value)}`).join("")
}

/** Reports the demo's progress as text for people, or as one JSON object per line. */
export class DemoReport extends Context.Service<
  DemoReport,
  {
    readonly step: (title: string, about?: Readonly<Record<string, unknown>>) => Effect.Effect<void>
    readonly event: (runId: string, event: RunEvent) => Effect.Effect<void>
    readonly log: (runId: string, entry: RunLogEntry) => Effect.Effect<void>
  }
>()("svc/src/cli/demo/DemoReport") {
  static readonly layer = (json: boolean) =>
    Layer.succeed(
      DemoReport,
      json
        ? {
            step: (title, about = {}) => Console.log(JSON.stringify({ step: title, ...about })),
            event: (runId, event) => Console.log(JSON.stringify({ runId, event })),
            log: (runId, log) => Console.log(JSON.stringify({ runId, log }))
          }
        : {
            step: (title, about = {}) => {
              const lines = Object.entries(about).map(([key, value]) => {
                const text = typeof value === "string" ? value : JSON.stringify(value)
                return `    ${key}: ${text}`
              })
              return Console.log([`\n==> ${title}`, ...lines].join("\n"))
            },
            event: (_, { data, kind }) => Console.log(`  * ${kind}${details(data)}`),
            log: (_, { text }) => Console.log(`  | ${text}`)
          }
    )
}
