import { expect } from "bun:test"
import { Arbitrary, Effect, Result, Schema } from "effect"
import {
  isPlain,
  isStoredAs,
  storedJson,
  storedRecord,
  storedText
} from "../../../../actors/base/database/StoredRecord.ts"
import { RunLogEntry } from "../../../../schema/events/RunEvent.ts"
import { AutoUpdateDecision } from "../../../../schema/records/AutoUpdate.ts"
import { Capsule } from "../../../../schema/records/Capsule.ts"
import { Connection } from "../../../../schema/records/Connection.ts"
import { InstallConfig } from "../../../../schema/records/InstallConfig.ts"
import { Interface } from "../../../../schema/records/Interface.ts"
import { OrphanedState } from "../../../../schema/records/OrphanedState.ts"
import { LatestRun, Run } from "../../../../schema/records/Run.ts"
import { Source, SourceSnapshot } from "../../../../schema/records/Source.ts"
import { Output, StateVersion } from "../../../../schema/records/StateVersion.ts"
import { it } from "../../../support/Effect.ts"

const records: Readonly<Record<string, Schema.Codec<unknown>>> = {
  AutoUpdateDecision,
  Capsule,
  Connection,
  InstallConfig,
  Interface,
  LatestRun,
  OrphanedState,
  Output,
  Run,
  RunLogEntry,
  Source,
  SourceSnapshot,
  StateVersion
}

const wrong: ReadonlyArray<unknown> = [null, 7.5, "no such thing", true, [], {}, ["one"], { more: 1 }]

/**
 * Generates every value that differs from the given value in exactly one place: a missing member, an unknown member, or a
 * member of the wrong type.
 */
const damaged = (value: unknown): ReadonlyArray<unknown> => {
  if (Array.isArray(value)) {
    return value.flatMap((item, index) => damaged(item).map((other) => value.with(index, other)))
  }
  if (typeof value !== "object" || value === null) return wrong
  return [
    { ...value, unknown: 1 },
    ...Object.entries(value).flatMap(([name, member]) => [
      Object.fromEntries(Object.entries(value).filter(([other]) => other !== name)),
      ...damaged(member).map((other) => ({ ...value, [name]: other }))
    ]),
    ...wrong
  ]
}

for (const [name, schema] of Object.entries(records)) {
  it.live(`reading a stored ${name} bypasses the parser, but gives the same result as the parser for every value`, () =>
    Effect.gen(function* () {
      expect(isPlain(schema)).toBe(true)
      const read = storedRecord(schema)
      const parse = Schema.decodeUnknownOption(schema)
      const samples = yield* Arbitrary.sampleEffect(Arbitrary.schema(schema), { count: 4, seed: 1 })
      for (const sample of samples) {
        const stored: unknown = JSON.parse(JSON.stringify(sample))
        for (const one of [stored, ...damaged(stored)]) {
          const found = Result.getSuccess(Result.try(() => read(one)))
          expect(found).toEqual(parse(one))
        }
      }
    })
  )
}

/** Returns the same value with all members in the opposite order. */
const reversed = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(reversed)
  if (typeof value !== "object" || value === null) return value
  return Object.fromEntries(
    Object.entries(value)
      .toReversed()
      .map(([name, member]) => [name, reversed(member)])
  )
}

for (const [name, schema] of Object.entries(records)) {
  it.live(`writing a ${name} bypasses the parser, but gives the same text as the parser, in schema order`, () =>
    Effect.gen(function* () {
      const write = storedText(schema)
      const encode = Schema.encodeUnknownSync(Schema.fromJsonString(schema))
      const samples = yield* Arbitrary.sampleEffect(Arbitrary.schema(schema), { count: 4, seed: 2 })
      for (const sample of samples) {
        for (const one of [sample, reversed(sample), ...damaged(JSON.parse(JSON.stringify(sample)))]) {
          const written = Result.getSuccess(Result.try(() => write(one)))
          expect(written).toEqual(Result.getSuccess(Result.try(() => encode(one))))
        }
      }
    })
  )
}

it.live("reading a stored record fails, with a reason, if the text is not JSON or does not match the schema", () =>
  Effect.sync(() => {
    const read = storedJson(Schema.Struct({ labels: Schema.Array(Schema.String) }))
    expect(read('{"labels":["a"],"more":1}')).toEqual({ labels: ["a"] })
    expect(() => read('{"labels":[1]}')).toThrow("labels")
    expect(() => read("labels")).toThrow("JSON")
  })
)

it.live("a value is trusted to have no extra members only if the reader of the same schema made it", () =>
  Effect.sync(() => {
    const One = Schema.Struct({ name: Schema.String })
    const Other = Schema.Struct({ name: Schema.String })
    const made = storedRecord(One)({ name: "a", sealed: "b" })
    expect(made).toEqual({ name: "a" })
    expect(isStoredAs(made, One.ast)).toBe(true)
    expect(isStoredAs(made, Other.ast)).toBe(false)
    expect(isStoredAs({ ...made }, One.ast)).toBe(false)
  })
)

it.live("reading a stored record supports schemas that convert values", () =>
  Effect.sync(() => {
    const Dated = Schema.Struct({ at: Schema.DateFromString })
    expect(isPlain(Dated)).toBe(false)
    expect(storedRecord(Dated)({ at: "2026-01-01T00:00:00.000Z" }).at).toBeInstanceOf(Date)
  })
)
