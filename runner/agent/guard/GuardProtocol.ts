import { Schema } from "effect"

/**
 * Messages from an agent to its guard, one JSON object per line.
 *
 * - `hold`: all processes in this run folder must be dead at `killAtBoot`, in seconds since the machine started; a later message
 *   moves the deadline
 * - `release`: the folder has no processes left
 */
export const GuardLine = Schema.Union([
  Schema.Struct({ say: Schema.Literal("hold"), folder: Schema.String, killAtBoot: Schema.Number }),
  Schema.Struct({ say: Schema.Literal("release"), folder: Schema.String })
])
export type GuardLine = typeof GuardLine.Type

export const GuardLineText = Schema.fromJsonString(GuardLine)
