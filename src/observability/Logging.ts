import { Layer, Logger, type LogLevel, References } from "effect"
import { visibleText } from "../../schema/records/VisibleText.ts"

const levels: Record<string, LogLevel.LogLevel> = {
  trace: "Trace",
  debug: "Debug",
  info: "Info",
  warn: "Warn",
  error: "Error",
  none: "None"
}

/** Escapes a line, so that external input cannot control the terminal that shows the log. */
const inert = (line: string): string =>
  visibleText(line).replace(/\p{Cc}/gu, (character) =>
    character === "\n" || character === "\t" ? character : `\\x${character.charCodeAt(0).toString(16).padStart(2, "0")}`
  )

/** Logs to stderr, with one JSON object per line or one readable line per entry. */
export const logging = (options: { readonly level: string; readonly format: "pretty" | "json" }): Layer.Layer<never> =>
  Layer.mergeAll(
    Logger.layer([
      Logger.withConsoleError(options.format === "json" ? Logger.formatJson : Logger.map(Logger.formatSimple, inert))
    ]),
    Layer.succeed(References.MinimumLogLevel, levels[options.level] ?? "Info")
  )
