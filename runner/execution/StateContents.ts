import { Option, Redacted } from "effect"
import { type ManagedInstance, type ManagedObject, managedInstances, stateDocument, stateFile } from "./StateFile.ts"

/** What an index of resources needs to know about one instance of a managed resource. */
export interface ObjectContents extends ManagedObject {
  /** For an object that still waits to be destroyed after its replacement: its distinguishing key. Empty for others. */
  readonly deposed: string
  /** Whether the state marks its `id`, or all of it, as sensitive. */
  readonly isIdSensitive: boolean
  /** The JSON text of each attribute that has a value, by name. */
  readonly attributes: Redacted.Redacted<ReadonlyMap<string, string>>
}

/** A state, resource by resource. */
export interface StateContents {
  readonly objects: ReadonlyArray<ObjectContents>
  /** The JSON texts of its outputs. */
  readonly outputs: ReadonlyArray<{ readonly name: string; readonly text: Redacted.Redacted }>
  /** Text that the state marks as sensitive. */
  readonly sensitiveTexts: ReadonlyArray<string>
}

const objectContents = ({ instance, object }: ManagedInstance): ObjectContents => ({
  ...object,
  deposed: instance.deposed ?? "",
  isIdSensitive: (instance.sensitive_attributes ?? []).some(([first]) => first === undefined || first.value === "id"),
  attributes: Redacted.make(
    new Map(
      Object.entries(instance.attributes ?? {}).flatMap(([name, value]) =>
        value === null ? [] : [[name, JSON.stringify(value)] as const]
      )
    )
  )
})

/** `none` for what is not a complete state file, and for one that the tool encrypted. */
export const stateContents = (bytes: Uint8Array): Option.Option<StateContents> =>
  stateDocument(bytes).pipe(
    Option.filter((document) => document.encrypted_data === undefined),
    Option.map((document) => ({
      objects: (document.resources ?? []).flatMap(managedInstances).map(objectContents),
      outputs: Object.entries(document.outputs ?? {}).map(([name, { sensitive, type, value }]) => ({
        name,
        text: Redacted.make(JSON.stringify([type, value, sensitive ?? false]))
      })),
      sensitiveTexts: stateFile(document).sensitiveTexts
    }))
  )
