import { Console, Layer, Option } from "effect"
import { CliConfig, type CliError, CliOutput, GlobalFlag, type HelpDoc } from "effect/cli"
import { visibleText } from "../../schema/records/VisibleText.ts"
import { jsonLine } from "./Output.ts"

/** Reports an invalid command line: on standard output for programs, on standard error for people. */
const printUsage = (json: boolean, path: ReadonlyArray<string>, errors: ReadonlyArray<CliError.CliError>) => {
  const message = errors.map((error) => error.message).join("\n")
  return Console.error(
    json
      ? jsonLine({ error: { code: "usage", message } })
      : `svc: ${visibleText(message)}\nSee \`${path.join(" ")} --help\`.`
  )
}

/** Marks required flags in the help, because the usage line marks only required arguments. */
export const withRequired = (help: HelpDoc.HelpDoc): HelpDoc.HelpDoc => ({
  ...help,
  flags: help.flags.map((flag) =>
    flag.required
      ? { ...flag, description: Option.map(flag.description, (description) => `${description} (required)`) }
      : flag
  )
})

/**
 * Built-in flags that svc removes. The log level is removed because servers have `--log` and commands log nothing; the
 * wizard, because its prompts ask for values that do not belong on a command line; and the built-in completions, because,
 * unlike those of `svc completion`, they do not complete the names of records.
 */
const leftOut: ReadonlyArray<unknown> = [GlobalFlag.LogLevel, GlobalFlag.Wizard, GlobalFlag.Completions]

/** Prints requested help on standard output, and usage errors on standard error. */
export const presentation = (json: boolean) =>
  Layer.merge(
    CliOutput.layerPresenter({
      present: (event) =>
        event._tag === "InvalidInvocation"
          ? printUsage(json, event.commandPath, event.errors)
          : CliOutput.defaultPresenter.present(
              event._tag === "Help" ? { ...event, helpDoc: withRequired(event.helpDoc) } : event
            )
    }),
    Layer.succeed(
      CliConfig.CliConfig,
      CliConfig.make({
        builtIns: GlobalFlag.BuiltIns.filter((flag) => !leftOut.includes(flag))
      })
    )
  )
