import { describe, expect, setDefaultTimeout } from "bun:test"
import { Effect, FileSystem, Redacted } from "effect"
import { WorkspaceId } from "../../schema/records/Ids.ts"
import { it } from "../support/Effect.ts"
import { httpServer } from "../support/HttpServer.ts"
import { isIncomplete, network, services } from "./support/NetworkShell.ts"
import { atTerminal, type Shell, shellOf } from "./support/Shell.ts"

setDefaultTimeout(180_000)

const missing = ["bash", "zsh", "fish"].filter((shell) => Bun.which(shell) === null)
const isSkipped = (missing.length > 0 && process.env["SVC_TEST_REQUIRE_ALL"] !== "1") || isIncomplete

/** A name that a shell would execute if it were completed without quotes. */
const hostile = "$(touch pwned);`id`"

/** Returns the text that bash inserts for these words while the last word is being typed. */
const onceInBash = (shell: Shell, words: ReadonlyArray<string>) =>
  Effect.map(
    shell.run(
      `source <(svc completion bash); COMP_WORDS=(svc ${words.map((word) => `'${word}'`).join(" ")}); COMP_CWORD=${words.length}; _svc; printf '%s\\n' "\${COMPREPLY[@]}"`
    ),
    ({ error, out }) => [out.trim().split("\n"), error] as const
  )

/** Repeats the completion if the server missed the shell's deadline. */
const inBash = (shell: Shell, words: ReadonlyArray<string>) =>
  onceInBash(shell, words).pipe(Effect.repeat({ until: ([[first]]) => first !== "", times: 5 }))

/** Returns the completions that fish offers for a command line. */
const inFish = (shell: Shell, line: string) =>
  Effect.map(shell.run(`fish -c "svc completion fish | source; complete -C '${line}'"`), ({ error, out }) => [
    out.trim().split("\n"),
    error
  ])

/** Prepares a person's shell, and a server with a Capsule, Runs, a Connection and a context. */
const installed = Effect.gen(function* () {
  const { run, server, shell } = yield* network
  yield* run("svc context set work --server http://127.0.0.1:1 --workspace acme")
  yield* run("svc workspace use acme")
  yield* run(
    "svc install https://git.example.com/infra.git --module network --name network --environment production --var-file values.json"
  )
  const { workspaces } = yield* server.client.workspaces.list({ query: {} })
  const acme = workspaces.find(({ handle }) => handle === "acme")
  yield* server.client.connections.create({
    payload: {
      workspaceId: WorkspaceId.make(acme?.id ?? ""),
      provider: "hashicorp/aws",
      displayName: hostile,
      values: { AWS_ACCESS_KEY_ID: "AKIAEXAMPLE", AWS_SECRET_ACCESS_KEY: "secret" }
    }
  })
  return { shell, token: Redacted.value(server.token), url: server.url }
})

describe.skipIf(isSkipped)("svc completion", () => {
  it.live("svc completion offers commands, flags, choices and live names in bash, zsh and fish", () =>
    Effect.gen(function* () {
      const { shell } = yield* installed
      const files = yield* FileSystem.FileSystem
      for (const [words, expected] of [
        [["complet"], ["completion"]],
        [["capsule", "res"], ["resources"]],
        [["run", "list", "--stat"], ["--status"]],
        [["run", "list", "--status", "waiting"], ["waiting_approval"]],
        [["plan", "ne"], ["network/production"]],
        [["run", "list", "--json", "--capsule", "ne"], ["network/production"]],
        [["context", "use", ""], ["work"]],
        [["workspace", "use", "ac"], ["acme"]],
        [["admin", "create-t"], ["create-token"]],
        [["connection", "get", "$"], [expect.stringContaining("\\$\\(touch")]]
      ] as const) {
        expect([words, ...(yield* inBash(shell, words))]).toEqual([words, [...expected], ""])
      }
      const [runs] = yield* inBash(shell, ["run", "watch", "run_"])
      expect(runs.every((run) => /^run_[a-z0-9]+$/.test(run))).toBe(true)
      expect((yield* inFish(shell, "svc plan ne"))[0]).toEqual([expect.stringMatching(/^network\/production\t/)])
      expect((yield* inFish(shell, "svc context use "))[0]).toEqual([expect.stringMatching(/^work\t/)])

      const person = yield* atTerminal(shell, "zsh -f -i")
      yield* person.type("autoload -U compinit; compinit -u -D; source <(svc completion zsh); PS1='ready'\\>\r")
      yield* person.shows("ready>")
      yield* person.type("svc capsule outputs ne\t")
      yield* person.shows("svc capsule outputs network/production")
      yield* person.type("\u0015")
      // A completed name is inserted as one quoted word, so the shell does not execute it.
      yield* person.type("svc connection get \\$\t --json | cat\r")
      yield* person.shows('"displayName"')
      expect(yield* files.exists(`${shell.home}/pwned`)).toBe(false)
    }).pipe(Effect.provide(services))
  )

  it.live("svc completion prints nothing without a login, and uses its cache if the server does not respond", () =>
    Effect.gen(function* () {
      const { shell, token, url } = yield* installed
      expect((yield* shell.run("SVC_WORKSPACE=acme svc __complete -- plan ''")).out).toContain("network/production")
      const kept = `${shell.home}/.config/svc/completion.json`
      const files = yield* FileSystem.FileSystem
      expect((yield* files.stat(kept)).mode & 0o777).toBe(0o600)
      const text = yield* files.readFileString(kept)
      expect(text).not.toContain(token)
      // Makes the cache expire, so that a request is sent.
      yield* files.writeFileString(kept, text.replaceAll(/"at":\d+/g, '"at":0'))
      const silent = yield* httpServer(() => {})
      const away = yield* files.readFileString(kept)
      yield* files.writeFileString(kept, away.replaceAll(url, silent.origin))
      const stale = yield* shell.run(`SVC_WORKSPACE=acme SVC_URL=${silent.origin} svc __complete -- plan ''`)
      expect([stale.code, stale.out, stale.error]).toEqual([0, expect.stringContaining("network/production"), ""])

      const stranger = yield* shellOf({})
      const nothing = yield* stranger.run("svc __complete -- plan ''")
      expect([nothing.code, nothing.out, nothing.error]).toEqual([0, "", ""])
      const refused = yield* shell.run("SVC_TOKEN=svcp_wrong svc __complete -- plan ''")
      expect([refused.code, refused.out, refused.error]).toEqual([0, "", ""])
    }).pipe(Effect.provide(services))
  )
})
