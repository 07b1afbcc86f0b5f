import { Duration, Layer } from "effect"
import { RetentionSettings } from "../../actors/run/RetentionSettings.ts"
import type { Settings } from "./Settings.ts"

/** How long the operator keeps what nothing needs any more, under these settings. */
export const retentionSettings = ({ keepLogs }: Settings) =>
  Layer.succeed(RetentionSettings, { logs: Duration.days(keepLogs) })
