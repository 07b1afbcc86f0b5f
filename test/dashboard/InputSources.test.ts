import { expect, test } from "bun:test"
import type { DeclaredVariable, Dependency } from "../../src/dashboard/api/Types.ts"
import { type InputSource, inputSourceOf } from "../../src/dashboard/screens/capsule/InputSources.ts"

type Variable = Pick<DeclaredVariable, "name" | "origin" | "required" | "set">

const variable = (more: Partial<Variable> = {}): Variable => ({
  name: "vpc",
  origin: "user",
  required: false,
  set: false,
  ...more
})
const dependency = (id: string, more: Partial<Dependency> = {}): Dependency => ({
  id,
  workspaceId: "ws_1",
  producerCapsuleId: `cap_of_${id}`,
  consumerCapsuleId: "cap_own",
  mode: "variable_injection",
  outputs: [{ from: "vpc_id", to: "vpc", required: true }],
  createdAt: "2026-01-01T00:00:00.000Z",
  ...more
})
const connection = { id: "conn_1", displayName: "aws-prod", moduleInputDefaults: { vpc: "vpc-1" } }

test.each<[string, Partial<Variable>, ReadonlyArray<Dependency>, boolean, InputSource["kind"]]>([
  ["the module's default", {}, [], false, "default"],
  ["nobody", { required: true }, [], false, "missing"],
  ["a person", { set: true }, [], true, "set"],
  ["a Connection, before the module's default", {}, [], true, "connection"],
  ["another Capsule, before a person", { set: true }, [dependency("d")], true, "injected"],
  ["the operator, before another Capsule", { origin: "operator", set: true }, [dependency("d")], false, "operator"],
  ["the host, before another Capsule", { origin: "host" }, [dependency("d")], false, "host"],
  ["the name of the Capsule", { origin: "capsule_name", set: true }, [], false, "capsule_name"],
  ["no Capsule that only has to come first", {}, [dependency("d", { mode: "remote_state" })], false, "default"],
  ["no Capsule that takes from this one", {}, [dependency("d", { consumerCapsuleId: "cap_x" })], false, "default"]
])("an input takes its value from %s", (_, more, dependencies, bound, kind) => {
  expect(inputSourceOf(variable(more), "cap_own", dependencies, bound ? [connection] : []).kind).toBe(kind)
})

test("if two Capsules provide the same input, the form uses the later Capsule and the name of its Output", () => {
  expect(inputSourceOf(variable(), "cap_own", [dependency("a"), dependency("b")], [])).toEqual({
    kind: "injected",
    output: "vpc_id",
    producerCapsuleId: "cap_of_b"
  })
})
