import { posix } from "node:path"
import { Option, Schema } from "effect"
import type { RunDiagnostic } from "../../schema/records/Run.ts"
import { sandboxPaths } from "./RunFolder.ts"

const Diagnostic = Schema.Struct({
  severity: Schema.String,
  summary: Schema.String,
  detail: Schema.optionalKey(Schema.NullOr(Schema.String)),
  address: Schema.optionalKey(Schema.NullOr(Schema.String)),
  range: Schema.optionalKey(
    Schema.NullOr(
      Schema.Struct({
        filename: Schema.String,
        start: Schema.Struct({ line: Schema.Int })
      })
    )
  ),
  snippet: Schema.optionalKey(
    Schema.NullOr(
      Schema.Struct({
        values: Schema.optionalKey(Schema.NullOr(Schema.Array(Schema.Struct({ traversal: Schema.String }))))
      })
    )
  )
})

const Hook = Schema.Struct({
  resource: Schema.Struct({ addr: Schema.String }),
  action: Schema.optionalKey(Schema.String),
  id_value: Schema.optionalKey(Schema.String),
  elapsed_seconds: Schema.optionalKey(Schema.Finite)
})

const ProvisionerHook = Schema.Struct({
  resource: Schema.Struct({ addr: Schema.String }),
  provisioner: Schema.String,
  output: Schema.optionalKey(Schema.String)
})

/** A line of the tool's machine-readable output, with only the fields that svc uses. */
const Line = Schema.fromJsonString(
  Schema.Struct({
    "@level": Schema.optionalKey(Schema.String),
    "@message": Schema.String,
    type: Schema.optionalKey(Schema.String),
    hook: Schema.optionalKey(Schema.Unknown),
    change: Schema.optionalKey(Schema.Unknown),
    diagnostic: Schema.optionalKey(Schema.Unknown)
  })
)
const decodeLine = Schema.decodeUnknownOption(Line)
const decodeHook = Schema.decodeUnknownOption(Hook)
const decodeProvisioner = Schema.decodeUnknownOption(ProvisionerHook)
const decodeChange = Schema.decodeUnknownOption(Schema.Struct({ resource: Schema.Struct({ addr: Schema.String }) }))
const decodeDiagnostic = Schema.decodeUnknownOption(Diagnostic)

export type ResourceMoment = "started" | "progress" | "completed" | "failed"

/** A message that has not been redacted yet. */
export type ToolMessage = { readonly text: string } & (
  | {
      readonly _tag: "Text"
      /** The resource that a message about a plan refers to. */
      readonly address?: string | undefined
    }
  | {
      readonly _tag: "Resource"
      readonly moment: ResourceMoment
      readonly address: string
      readonly action: string
      readonly id: string | undefined
      readonly elapsedSeconds: number | undefined
    }
  | {
      /** A provisioner's output, which may be a partial line. Without `output`, the provisioner is starting or ending. */
      readonly _tag: "Provisioner"
      readonly address: string
      readonly provisioner: string
      readonly output: string | undefined
    }
  | { readonly _tag: "Diagnostic"; readonly diagnostic: RunDiagnostic }
  | { readonly _tag: "EmergencyState"; readonly state: Uint8Array }
)

const moments: ReadonlyMap<string, ResourceMoment> = new Map([
  ["apply_start", "started"],
  ["apply_progress", "progress"],
  ["apply_complete", "completed"],
  ["apply_errored", "failed"]
])

const emergencyText = "Emergency state dump"

/** The state exactly as printed. Parsing and printing it again would change numbers beyond 2^53. */
const emergencyState = (line: string): Uint8Array | undefined => {
  const start = line.indexOf('"state":')
  const end = line.lastIndexOf(',"type":')
  return start < 0 || end <= start ? undefined : new TextEncoder().encode(line.slice(start + '"state":'.length, end))
}

/**
 * Name of the file that contains the module's inputs. People cannot open this file, so positions in it are useless to them.
 */
const inputsFile = posix.basename(sandboxPaths.inputs)

/** Returns the variables in a diagnostic about the inputs. Omits keys, because a key in a variable may be secret. */
const inputsOf = ({ range, snippet }: typeof Diagnostic.Type): ReadonlyArray<string> => {
  if (range == null || posix.basename(range.filename) !== inputsFile) return []
  const names = (snippet?.values ?? []).flatMap(({ traversal }) => /^var\.[\w-]+/.exec(traversal) ?? [])
  return [...new Set(names)]
}

const detailOf = (found: typeof Diagnostic.Type): string => {
  const detail = found.detail ?? ""
  const unnamed = inputsOf(found).filter((name) => !detail.includes(name))
  return unnamed.length === 0 ? detail : `${unnamed.join(", ")}: ${detail}`
}

const runDiagnostic = (found: typeof Diagnostic.Type): RunDiagnostic => {
  const detail = detailOf(found)
  return {
    severity: found.severity === "warning" ? "warning" : "error",
    summary: found.summary,
    ...(detail === "" ? {} : { detail }),
    ...(found.address ? { address: found.address } : {}),
    ...(found.range ? { path: found.range.filename, line: found.range.start.line } : {})
  }
}

const addressOf = ({ resource }: { readonly resource: { readonly addr: string } }) => ({ address: resource.addr })

/** Returns `none` if the line is not a message, for example human-readable text, a truncated line, or garbage. */
export const parseToolMessage = (line: string): Option.Option<ToolMessage> => {
  if (!line.startsWith("{")) return Option.none()
  return Option.map(decodeLine(line), (decoded): ToolMessage => {
    const text = decoded["@message"]
    const state = text === emergencyText ? emergencyState(line) : undefined
    if (state !== undefined) return { _tag: "EmergencyState", text, state }
    const moment = moments.get(decoded.type ?? "")
    const hook = decodeHook(decoded.hook)
    if (moment !== undefined && Option.isSome(hook)) {
      return {
        _tag: "Resource",
        text,
        moment,
        address: hook.value.resource.addr,
        action: hook.value.action ?? "unknown",
        id: hook.value.id_value,
        elapsedSeconds: hook.value.elapsed_seconds
      }
    }
    const provisioner =
      decoded.type?.startsWith("provision_") === true ? decodeProvisioner(decoded.hook) : Option.none()
    if (Option.isSome(provisioner)) {
      const { output, provisioner: name, resource } = provisioner.value
      return { _tag: "Provisioner", text, address: resource.addr, provisioner: name, output }
    }
    const diagnostic = decoded.type === "diagnostic" ? decodeDiagnostic(decoded.diagnostic) : Option.none()
    if (Option.isSome(diagnostic)) return { _tag: "Diagnostic", text, diagnostic: runDiagnostic(diagnostic.value) }
    const about = Option.orElse(hook, () => decodeChange(decoded.change))
    return { _tag: "Text", text, ...Option.match(about, { onNone: () => ({}), onSome: addressOf }) }
  })
}
