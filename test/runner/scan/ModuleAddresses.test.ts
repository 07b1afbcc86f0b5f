import { afterAll, describe, expect, test } from "bun:test"
import { Effect } from "effect"
import { ModuleScanner } from "../../../runner/scan/ModuleScanner.ts"
import { undeclaredAddresses } from "../../../runner/scan/ModuleAddresses.ts"
import { suite } from "../../support/Effect.ts"
import { platform } from "../../../src/composition/Platform.ts"
import { Layer } from "effect"
import { memoryTree } from "./MemoryTree.ts"

const tests = suite(ModuleScanner.layer.pipe(Layer.provideMerge(platform)))
afterAll(tests.dispose)

const files = {
  "main.tf": `
    resource "demo_thing" "one" {}
    data "demo_thing" "read" {}
    module "net" { source = "./net" }
    moved {
      from = demo_thing.old["a.b"]
      to   = demo_thing.one
    }
    removed {
      from = module.gone
      lifecycle { destroy = false }
    }`,
  "more.tf.json": '{"resource":{"demo_thing":{"two":{}}},"moved":[{"from":"module.earlier","to":"module.net"}]}',
  "net/main.tf": `
    resource "demo_thing" "inner" { for_each = toset(["x"]) }
    module "deep" { source = "./deep" }
    moved {
      from = demo_thing.before
      to   = demo_thing.inner
    }`,
  "net/deep/main.tf": `
    resource "demo_thing" "bottom" {}
    removed {
      from = demo_thing.dropped
    }`
}

describe("Module addresses", () => {
  tests.live("a module's addresses include the addresses of every reachable module, in both syntaxes", () =>
    Effect.gen(function* () {
      const { addresses } = yield* ModuleScanner
      const found = yield* addresses(memoryTree(files), ".")
      expect(found.declared).toEqual([
        "demo_thing.one",
        "demo_thing.two",
        "module.net.demo_thing.inner",
        "module.net.module.deep.demo_thing.bottom"
      ])
      expect(found.moved).toEqual([
        { from: 'demo_thing.old["a.b"]', to: "demo_thing.one" },
        { from: "module.earlier", to: "module.net" },
        { from: "module.net.demo_thing.before", to: "module.net.demo_thing.inner" }
      ])
      expect(found.removed).toEqual(["module.gone", "module.net.module.deep.demo_thing.dropped"])
      expect((yield* Effect.flip(addresses(memoryTree(files), "elsewhere")))._tag).toBe("ModuleNotInTree")
    })
  )
})

describe("undeclared addresses", () => {
  const module = {
    declared: ["demo_thing.one", "module.net.demo_thing.inner"],
    moved: [
      { from: 'demo_thing.old["a.b"]', to: "demo_thing.one" },
      { from: "module.earlier", to: "module.net" },
      { from: "demo_thing.first", to: "demo_thing.second" },
      { from: "demo_thing.second", to: "demo_thing.one" },
      { from: "demo_thing.round", to: "demo_thing.about" },
      { from: "demo_thing.about", to: "demo_thing.round" },
      { from: "demo_thing.nowhere", to: "demo_thing.missing" }
    ],
    removed: ["module.gone", "demo_thing.dropped"]
  }
  const covered = [
    "demo_thing.one",
    "demo_thing.one[0]",
    'module.net["a"].demo_thing.inner["x.y"]',
    'demo_thing.old["a.b"]',
    "module.earlier.demo_thing.inner",
    "demo_thing.first",
    "module.gone.demo_thing.any[3]",
    'module.gone["k"].module.deeper.demo_thing.any',
    "demo_thing.dropped[1]"
  ]
  const undeclared = [
    "demo_thing.other",
    'demo_thing.old["b"]',
    "module.earlier.demo_thing.outer",
    "demo_thing.round",
    "demo_thing.nowhere",
    "module.goneish.demo_thing.any",
    "module.net.demo_thing.dropped",
    "not an address"
  ]
  test("the scan lists addresses that a module does not declare", () => {
    expect(undeclaredAddresses(module, covered)).toEqual([])
    expect(undeclaredAddresses(module, [...covered, ...undeclared])).toEqual(undeclared)
  })
})
