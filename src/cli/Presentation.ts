import { Console, Layer } from "effect"
import { CliConfig, type CliError, CliOutput, GlobalFlag } from "effect/cli"
import { visibleText } from "../../schema/records/VisibleText.ts"
import { jsonLine } from "./Output.ts"

/** An invalid command line, for programs and for people: standard output is for results. */
const printUsage = (json: boolean, path: ReadonlyArray<string>, errors: ReadonlyArray<CliError.CliError>) => {
  const message = errors.map((error) => error.message).join("\n")
  return Console.error(
    json
      ? jsonLine({ error: { code: "usage", message } })
      : `svc: ${visibleText(message)}\nSee \`${path.join(" ")} --help\`.`
  )
}

/**
 * Help on standard output when requested, usage errors on standard error. The built-in flag for a log level is left out:
 * servers have `--log`, and commands log nothing.
 */
export const presentation = (json: boolean) =>
  Layer.merge(
    CliOutput.layerPresenter({
      present: (event) =>
        event._tag === "InvalidInvocation"
          ? printUsage(json, event.commandPath, event.errors)
          : CliOutput.defaultPresenter.present(event)
    }),
    Layer.succeed(
      CliConfig.CliConfig,
      CliConfig.make({ builtIns: GlobalFlag.BuiltIns.filter((flag) => flag !== GlobalFlag.LogLevel) })
    )
  )
