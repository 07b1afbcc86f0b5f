import { Effect, Option, Redacted, Schema } from "effect"
import type { DocumentContents } from "../document/DocumentReadings.ts"
import { longestReadHere, readDocument } from "../document/Documents.ts"
import { collectedGarbage } from "./CollectedGarbage.ts"
import { withExactNumbers } from "../../schema/json/ExactNumbers.ts"
import {
  type ManagedInstance,
  type ManagedObject,
  managedInstances,
  sensitiveOutputTexts,
  sensitiveTextsOf,
  stateDocument
} from "./StateFile.ts"
import { Instance, Outputs, Resource } from "./StateDocument.ts"
import { type Extent, isWholeState, type StateLayout, stateLayout } from "./StateScan.ts"

/** An instance of a managed resource, with the data for the index. */
export interface ObjectContents extends ManagedObject {
  /** Key of a deposed object, which has been replaced and is waiting to be destroyed; empty for other objects. */
  readonly deposed: string
  /** True if the object is tainted, so the tool will replace it. */
  readonly tainted: boolean
  /** True if the state marks its `id` or the whole object as sensitive. */
  readonly isIdSensitive: boolean
  /** JSON text of each attribute that has a value, by name. */
  readonly attributes: Redacted.Redacted<ReadonlyMap<string, string>>
}

/** The contents of a state except its objects. */
export interface StateContents {
  /** The state's outputs, as JSON text. */
  readonly outputs: ReadonlyArray<{ readonly name: string; readonly text: Redacted.Redacted }>
  /** Texts that the state marks as sensitive. */
  readonly sensitiveTexts: ReadonlyArray<string>
}

const objectContents = ({ instance, object }: ManagedInstance): ObjectContents => ({
  ...object,
  deposed: instance.deposed ?? "",
  tainted: instance.status === "tainted",
  isIdSensitive: (instance.sensitive_attributes ?? []).some(([first]) => first === undefined || first.value === "id"),
  attributes: Redacted.make(
    new Map(
      Object.entries(instance.attributes ?? {}).flatMap(([name, value]) =>
        value === null ? [] : [[name, JSON.stringify(value)] as const]
      )
    )
  )
})

const outputTexts = (outputs: typeof Outputs.Type): StateContents["outputs"] =>
  Object.entries(outputs).map(([name, { sensitive, type, value }]) => ({
    name,
    text: Redacted.make(JSON.stringify([type, value, sensitive ?? false]))
  }))

/** Creates a collector that passes each object to `take` and returns the remaining data of the state. */
const reading = (take: (object: ObjectContents) => void) => {
  const sensitiveTexts: Array<string> = []
  return {
    resource: (resource: typeof Resource.Type) => {
      for (const instance of resource.instances ?? [])
        for (const text of sensitiveTextsOf(instance)) sensitiveTexts.push(text)
      for (const managed of managedInstances(resource)) take(objectContents(managed))
    },
    contents: (outputs: typeof Outputs.Type): StateContents => ({
      outputs: outputTexts(outputs),
      sensitiveTexts: [...sensitiveOutputTexts(outputs), ...sensitiveTexts]
    })
  }
}

const decodeOutputs = Schema.decodeUnknownOption(Schema.fromJsonString(Outputs))
const decodeResource = Schema.decodeUnknownOption(Schema.fromJsonString(Resource))
const decodeInstance = Schema.decodeUnknownOption(Schema.fromJsonString(Instance))

const bytesAtOnce = 1024 * 1024

const decoder = new TextDecoder()
const none = new TextEncoder().encode("[]")

type PartKind = "outputs" | "resource" | "instance"
type Parts = { readonly [K in PartKind]: Map<number, Option.Option<DocumentContents[K]>> }

/**
 * Caches long parts of states that were read before a transaction. The keys are positions; entries are kept as long as the
 * state is in memory.
 */
const partsRead = new WeakMap<Uint8Array, Parts>()

interface Part<K extends PartKind> {
  readonly state: Uint8Array
  readonly kind: K
  readonly from: number
  readonly bytes: Uint8Array
  readonly decode: (text: string) => Option.Option<DocumentContents[K]>
}

/** Reads one part. Reads a long part in another thread, because it may be as long as the state. */
const partOf = Effect.fnUntraced(function* <K extends PartKind>({ bytes, decode, from, kind, state }: Part<K>) {
  if (bytes.length <= longestReadHere) return decode(withExactNumbers(decoder.decode(bytes)))
  const parts = partsRead.get(state)?.[kind]
  const known = parts?.get(from)
  if (known !== undefined) return known
  const read = yield* Effect.option(readDocument(kind, bytes))
  parts?.set(from, read)
  return read
})

/** Like `contents`, but for a long state. Keeps only one part in memory at a time. */
const partContents = Effect.fnUntraced(function* (
  bytes: Uint8Array,
  { outputs, resources }: StateLayout,
  take: (object: ObjectContents) => void
) {
  const within = ({ from, to }: Extent) => bytes.subarray(from, to)
  const read = reading(take)
  const passed = collectedGarbage()
  let since = 0
  for (const { each, instances, whole } of resources) {
    const described =
      instances === undefined
        ? within(whole)
        : Buffer.concat([bytes.subarray(whole.from, instances.from), none, bytes.subarray(instances.to, whole.to)])
    const resource = yield* partOf({
      state: bytes,
      kind: "resource",
      from: whole.from,
      bytes: described,
      decode: decodeResource
    })
    if (Option.isNone(resource)) return Option.none<StateContents>()
    for (const extent of each) {
      const instance = yield* partOf({
        state: bytes,
        kind: "instance",
        from: extent.from,
        bytes: within(extent),
        decode: decodeInstance
      })
      if (Option.isNone(instance)) return Option.none<StateContents>()
      read.resource({ ...resource.value, instances: [instance.value] })
      since += extent.to - extent.from
      passed(extent.to - extent.from)
      if (since < bytesAtOnce) continue
      since = 0
      yield* Effect.yieldNow
    }
  }
  const given =
    outputs === undefined
      ? Option.some<typeof Outputs.Type>({})
      : yield* partOf({
          state: bytes,
          kind: "outputs",
          from: outputs.from,
          bytes: within(outputs),
          decode: decodeOutputs
        })
  return Option.map(given, read.contents)
})

/**
 * Passes each object in a state to `take`, one at a time, and returns the rest. Returns `none` if the bytes are not a complete
 * state file or the tool has encrypted the state; the caller must then discard the objects it has received.
 */
export const stateContents = Effect.fnUntraced(function* (
  bytes: Uint8Array,
  take: (object: ObjectContents) => void,
  options: { readonly longestParsed: number } = { longestParsed: longestReadHere }
) {
  if (bytes.length > options.longestParsed) {
    const layout = Option.filter(yield* stateLayout(bytes), ({ isEncrypted }) => !isEncrypted)
    return Option.isNone(layout) ? Option.none<StateContents>() : yield* partContents(bytes, layout.value, take)
  }
  const whole = isWholeState(bytes) ? stateDocument(bytes) : Option.none()
  const document = Option.filter(whole, ({ encrypted_data }) => encrypted_data === undefined)
  return Option.map(document, ({ outputs, resources }) => {
    const read = reading(take)
    for (const resource of resources ?? []) read.resource(resource)
    return read.contents(outputs ?? {})
  })
})

/**
 * Reads the parts of a state that are too long for this thread. Afterwards, `stateContents` needs no other thread for the
 * same bytes, so it can be used inside a transaction.
 */
export const readLongParts = Effect.fnUntraced(function* (bytes: Uint8Array) {
  if (bytes.length <= longestReadHere || partsRead.has(bytes)) return
  partsRead.set(bytes, { outputs: new Map(), resource: new Map(), instance: new Map() })
  yield* stateContents(bytes, () => {})
})
