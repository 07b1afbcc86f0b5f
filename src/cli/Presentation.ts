import { Console, Layer, Option } from "effect"
import { CliConfig, type CliError, CliOutput, GlobalFlag, type HelpDoc } from "effect/cli"
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

/** Help that marks what a command cannot do without. Arguments are marked in the usage. */
export const withRequired = (help: HelpDoc.HelpDoc): HelpDoc.HelpDoc => ({
  ...help,
  flags: help.flags.map((flag) =>
    flag.required
      ? { ...flag, description: Option.map(flag.description, (description) => `${description} (required)`) }
      : flag
  )
})

/**
 * Built-in flags that svc leaves out: the log level, since servers have `--log` and commands log nothing; the wizard, which asks for
 * values at a prompt that do not belong on a command line; and completions without names, which `svc completion` has.
 */
const leftOut: ReadonlyArray<unknown> = [GlobalFlag.LogLevel, GlobalFlag.Wizard, GlobalFlag.Completions]

/** Help on standard output when requested, usage errors on standard error. */
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
