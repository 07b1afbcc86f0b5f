import { Schema } from "effect"

/** The scan as a whole exceeds a limit. It returns nothing, because a partial tree would hide providers. */
export class ScanLimitExceeded extends Schema.TaggedError<ScanLimitExceeded>()("ScanLimitExceeded", {
  limit: Schema.Literals(["files", "bytes", "time", "module_calls"]),
  maximum: Schema.Finite,
  message: Schema.String
}) {}

/** The parser could not be started; the module may be fine. */
export class HclParserUnavailable extends Schema.TaggedError<HclParserUnavailable>()("HclParserUnavailable", {
  message: Schema.String
}) {}

/** The path is not canonical, or the folder does not directly contain a configuration file. */
export class ModuleNotInTree extends Schema.TaggedError<ModuleNotInTree>()("ModuleNotInTree", {
  modulePath: Schema.String,
  message: Schema.String
}) {}
