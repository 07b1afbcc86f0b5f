import { describe, expect, setDefaultTimeout } from "bun:test"
import { Effect } from "effect"
import { commandHelps } from "../../scripts/CommandReference.ts"
import { clientCommandNames } from "../../src/cli/ClientCommandNames.ts"
import { resultShapes } from "../../src/cli/ResultShapes.ts"
import { it } from "../support/Effect.ts"
import { heldApply } from "./support/HeldApply.ts"
import {
  existingState,
  isIncomplete,
  modulesWith,
  network,
  newcomer,
  services,
  terminalPage
} from "./support/NetworkShell.ts"
import { atTerminal, shellOf } from "./support/Shell.ts"

setDefaultTimeout(180_000)

/** The page's commands, in order. Logging in needs a browser and has a separate test. */
const linesOfPage = [...terminalPage.matchAll(/^```sh\n(.*?)^```$/gms)]
  .flatMap(([, block = ""]) => block.trim().split("\n"))
  .filter((line) => !line.startsWith("svc login"))

/** Commands after which a plan waits for approval. */
const leavesPlan =
  /^svc (?:install|plan|rollback|destroy|adopt|capsule set|workspace backup restore-plan) (?!.*--detailed)/

/** The examples from `--help`, in an order in which they can all run. */
const exampleWalk = [
  "svc workspace use acme",
  "svc api GET workspaces",
  "svc install https://git.example.com/infra.git --module network --name network --var-file values.json",
  "svc approve network --digest sha256:...",
  "svc run wait network --approved --wait-timeout 2h",
  "svc run get network --plan-json > plan.json",
  "svc apply network",
  "svc capsule outputs network",
  "svc capsule outputs network greeting --raw",
  "svc run list --capsule network --limit 5",
  "svc run list --status waiting_approval --json",
  "svc logs network --follow",
  "svc drift network",
  "svc plan network --refresh-only",
  "svc source sync network",
  "svc api GET 'workspaces/{workspace}/capsules?limit=5'",
  "svc api POST capsules/cap_.../drift-check",
  "svc plan network --ref main --speculative",
  "svc plan network --ref main",
  "svc plan network --detailed-exitcode --discard-if-empty",
  "svc plan network",
  "svc plan network --json --wait-timeout 30m",
  "svc approve network",
  "svc apply network --no-wait --json",
  "svc run watch network",
  "svc capsule variables network",
  "svc capsule set network --var region=south",
  "svc capsule set network --var-file values.tfvars",
  "svc capsule set network --var region=- < region.txt",
  "svc capsule set network --unset suffix",
  'svc rollback network --reason "the route is missing"',
  "svc rollback network --generation 1",
  "svc open network --print",
  "svc connection create staging --provider hashicorp/aws --env AWS_ACCESS_KEY_ID --env AWS_SECRET_ACCESS_KEY",
  "svc connection rotate staging --values credentials.json",
  "svc connection create forge --kind forge --provider gitlab --origin https://gitlab.com --values token.json",
  "svc connection create production --provider hashicorp/aws --provided-by eu-west/aws-production",
  "svc invite create eve@example.com",
  "svc invite withdraw eve@example.com",
  "svc invite create bob@example.com --role admin",
  "svc invite create --json | jq -r .link > link.txt",
  "svc invite accept --link-file link.txt --new-account --email bob@example.com --password-stdin < password.txt",
  "svc member role bob@example.com admin",
  'svc run comment network "Please wait for the release." --mention bob@example.com',
  "svc member remove bob@example.com --yes",
  "svc token create ci --scope read --scope write --bound --password-stdin < password.txt",
  "svc token revoke ci --password-stdin < password.txt",
  "svc whoami --json",
  "svc context list --json",
  "svc workspace list --json",
  "svc capsule list --json",
  "svc capsule get network --json",
  "svc capsule outputs network --json",
  "svc capsule resources network --json",
  "svc capsule states network --json",
  "svc source list --json",
  "svc source set network --no-auto-sync",
  "svc source set network --reviewed-ref staging",
  "svc source set network --pull-requests own_branches",
  "svc pr list --state all",
  'svc workspace create beta --display-name "Beta"',
  "svc share create network --to beta --output greeting",
  "svc share list",
  "svc share approve oshare_...",
  "svc share revoke oshare_... --yes",
  "svc team create platform",
  "svc team list",
  "svc team add platform ada@example.test",
  "svc team remove platform ada@example.test",
  "svc team grant platform admin --environment production",
  "svc team grant platform none --environment production",
  "svc rule add --environment production --approvers 2 --team platform",
  "svc rule list",
  "svc rule remove apr_... --yes",
  "svc notice create ops https://hooks.example.com/svc --kind run.waiting_approval --kind run.failed",
  "svc notice create chat - --for slack --environment production < address.txt",
  "svc notice list",
  "svc notice set ops --kind run.failed --all-capsules",
  "svc notice set ops --state active",
  "svc notice rotate-secret ops --overlap 2h",
  "svc notice test ops",
  "svc notice log ops --status failed",
  "svc notice replay ops ndl_...",
  "svc notice remove ops --yes",
  "svc team delete platform --yes",
  "svc activity list --since 7d --capsule network",
  "svc activity list --action run.approve --json",
  "svc connection use staging --role member",
  "svc connection use staging",
  "svc source hook-secret network --password-stdin < password.txt",
  "svc run get network --json",
  "svc connection list --json",
  "svc connection get staging --json",
  "svc member list --json",
  "svc invite list --json",
  "svc open --json",
  "svc run cancel network --json",
  "svc connection revoke staging --yes",
  "svc connection delete staging --yes",
  "svc capsule auto-update network on --no-apply",
  "svc capsule auto-update network off",
  "svc capsule auto-update network",
  "svc capsule disable network",
  "svc capsule enable network",
  "svc capsule backup create network",
  "svc capsule backup list network",
  "svc workspace backup create",
  "svc workspace backup list",
  "svc workspace backup restore-plan bkp_... --capsule network",
  "svc export network --confirm network --out network.tar.gz --password-stdin < password.txt",
  "svc capsule rename network net",
  "svc capsule release net --reason moved_elsewhere --confirm net"
]

/** Commands whose output replaces the examples' placeholders. */
const placeholders: ReadonlyArray<readonly [placeholder: string, command: string]> = [
  ["sha256:...", "svc run get network --json | jq -r .run.planDigest"],
  ["cap_...", "svc capsule get network --json | jq -r .capsule.id"],
  ["oshare_...", "svc share list --json | jq -r '.outputShares[0].id'"],
  ["apr_...", "svc rule list --json | jq -r '.approvalRules[0].id'"],
  ["ndl_...", "svc notice log ops --json | jq -r '.deliveries[0].id'"],
  ["bkp_...", "svc workspace backup list --json | jq -r '[.backups[] | select(.capsuleId == null)][0].id'"]
]

describe.skipIf(isIncomplete)("Terminal commands", () => {
  it.concurrent("docs/terminal.md takes a newcomer from a Workspace to an export, without `svc api`", () =>
    Effect.gen(function* () {
      const { run, server, shell } = yield* newcomer
      const journey = ["workspace create", "install", "approve", "apply", "capsule set", "rollback", "adopt", "export"]
      expect(journey.filter((verb) => !linesOfPage.some((line) => line.startsWith(`svc ${verb} `)))).toEqual([])
      expect(linesOfPage.filter((line) => line.startsWith("svc api"))).toHaveLength(1)
      expect(linesOfPage.at(-1)).toStartWith("svc api")
      yield* existingState(shell.home)
      const shown: Array<string> = []
      for (const line of linesOfPage) {
        if (line === "svc source sync network") yield* server.commit(modulesWith("s3:PutObject"))
        const { code, error, out } = yield* run(line)
        expect({ line, code, error: code === 0 || code === 3 ? "" : error }).toEqual({
          line,
          code: leavesPlan.test(line) ? 3 : 0,
          error: ""
        })
        shown.push(out)
      }
      const after = (line: string) => shown[linesOfPage.indexOf(line)] ?? ""
      expect(after("svc whoami")).toContain("ada@example.test")
      expect(after("svc capsule outputs network greeting --raw")).toBe("s3:GetObject in north\n")
      // The plan shows a change inside a value without the rest of the value.
      const change = shown[linesOfPage.indexOf("svc plan network --json > plan.json") + 1] ?? ""
      expect(change).toContain("~ 1 to change")
      expect(change).toContain('-         "s3:GetObject"')
      expect(change).toContain('+         "s3:PutObject"')
      expect(change).not.toContain("DeleteBucket")
      const configured = shown[linesOfPage.findIndex((line) => line.startsWith("svc capsule set ")) + 1] ?? ""
      expect(configured).toContain('"s3:PutObject in south"')
      expect(after("svc run get network --plan-json | jq '.resource_changes | length'")).toMatch(/^\d+\n$/)
      expect(change).toMatch(/\ndigest sha256:[0-9a-f]{64}\nchange hmac-sha256:[\w-]{43}\n$/)
      expect(change).not.toContain("\u001b")
      expect(JSON.parse(after('svc apply "$(jq -r .run.id plan.json)" --json'))).toMatchObject({
        run: { status: "succeeded" }
      })
      expect(after("svc capsule list --all")).toContain("destroyed")
      expect(
        after("svc adopt terraform.tfstate --source https://git.example.com/infra.git --module queue --name queue")
      ).toContain("The plan shows no changes: the module fits what is there.")
      expect(shown.join("")).not.toContain("an example")
      expect(after("svc member list")).toMatch(/bob@example\.com +member +active/)
      const listed = yield* shell.run("tar -tzf queue.tar.gz")
      expect(listed.out).toContain("terraform.tfstate")
      expect((yield* shell.run("stat -c %a queue.tar.gz")).out).toBe("600\n")
    }).pipe(Effect.provide(services)))

  it.concurrent("every example from --help works", () =>
    Effect.gen(function* () {
      const examples = (yield* commandHelps)
        .filter(({ path: [name = ""] }) => clientCommandNames.has(name))
        .flatMap(({ help }) => (help.examples ?? []).map(({ command }) => command))
      // Completion.test.ts runs the completions in real shells.
      const walked = examples.filter((example) => !example.includes("svc completion"))
      expect(walked.filter((example) => !exampleWalk.includes(example))).toEqual([])
      const { run, shell, soon } = yield* network
      /** JSON output has the keys that the documentation lists. */
      const hasShape = (line: string, out: string) => {
        const [, one = "", two = ""] = /^svc (\S+) (\S+)/.exec(`${line} .`) ?? []
        const shape = resultShapes[`${one} ${two}`] ?? resultShapes[one] ?? {}
        const printed = Object.keys(JSON.parse(out.split("\n")[0] ?? ""))
        const always = Object.keys(shape).filter((key) => !key.endsWith("?"))
        expect([line, always.filter((key) => !printed.includes(key))]).toEqual([line, []])
        expect([line, printed.filter((key) => !always.includes(key) && !Object.hasOwn(shape, `${key}?`))]).toEqual([
          line,
          []
        ])
      }
      /** Replaces a placeholder in the example with the output of a command. */
      const filled = Effect.fnUntraced(function* (line: string) {
        const [placeholder = "", command = ""] = placeholders.find(([one]) => line.includes(one)) ?? []
        return command === "" ? line : line.replace(placeholder, (yield* run(command)).out.trim())
      })
      for (const line of exampleWalk) {
        if (line === "svc approve network") {
          const person = yield* atTerminal(shell, line)
          yield* person.shows("Approve this plan?")
          yield* person.type("y")
          yield* person.shows("Approved.")
          expect(yield* person.code).toBe(0)
          continue
        }
        const given = (yield* filled(line)).replace(
          /^svc connection create staging/,
          "AWS_ACCESS_KEY_ID=AKIAEXAMPLE AWS_SECRET_ACCESS_KEY=secret $&"
        )
        const { code, error, out } = yield* soon(given)
        // A plan without changes exits with 0.
        const isDone = code === 0 || (code === 3 && leavesPlan.test(line))
        expect([line, code, isDone ? "" : error]).toEqual([line, isDone ? code : 0, ""])
        if (given.endsWith("--json") && !line.startsWith("svc logs")) hasShape(line, out)
        // Waits for Runs that the examples have started, because the next example needs the Capsule.
        if (line.startsWith("svc api POST")) yield* soon("svc run watch network")
      }
    }).pipe(Effect.provide(services)))

  it.concurrent("Ctrl-C ends the command that follows a Run, but does not stop the Run", () =>
    Effect.gen(function* () {
      const held = yield* heldApply({})
      const shell = yield* shellOf({ SVC_URL: held.url, SVC_TOKEN: held.token })
      const person = yield* atTerminal(shell, `svc run watch ${held.runId}`)
      yield* person.shows("applying ...")
      yield* person.type("\u0003")
      expect(yield* person.code).toBe(130)
      expect(person.screen()).toContain("The Run continues")
      const waited = yield* shell.run(`svc run watch ${held.runId} --wait-timeout 1s --json`)
      expect([waited.code, JSON.parse(waited.error.trim().split("\n").at(-1) ?? "").error.code]).toEqual([
        7,
        "timed_out"
      ])
      yield* held.release
      const ended = yield* shell.run(`svc run watch ${held.runId}`)
      expect([ended.code, ended.out]).toEqual([0, expect.stringContaining("1 created.")])
    }).pipe(Effect.provide(services)))
})
