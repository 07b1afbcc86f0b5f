import { ConfigProvider, Effect, FileSystem, Redacted } from "effect"
import { svc } from "../../src/cli/support/CommandLine.ts"
import { hostedServer } from "./HostedServer.ts"

/**
 * Starts a server with the Workspace `acme`. `svc` runs in this process as the Workspace's owner, with a folder for files.
 */
export const acme = Effect.fnUntraced(function* (modules: Readonly<Record<string, string>>) {
  const files = yield* FileSystem.FileSystem
  const server = yield* hostedServer(modules)
  yield* server.client.workspaces.create({ payload: { handle: "acme", displayName: "Acme" } })
  const home = yield* files.makeTempDirectoryScoped({ prefix: "svc-verbs-" })
  const as =
    (token: Redacted.Redacted) =>
    (args: ReadonlyArray<string>, stdin = "") =>
      svc(args, stdin).pipe(
        Effect.provide(
          ConfigProvider.layer(
            ConfigProvider.fromEnvRecord({
              HOME: home,
              SVC_TOKEN: Redacted.value(token),
              SVC_URL: server.url,
              SVC_WORKSPACE: "acme"
            })
          )
        )
      )
  const told = as(server.token)
  return {
    server,
    as,
    /** Returns the exit code, and the parsed output of `--json`. */
    json: Effect.fnUntraced(function* (args: ReadonlyArray<string>, stdin = "") {
      const { code, error, out } = yield* told([...args, "--json"], stdin)
      return { code, error, value: out === "" ? undefined : JSON.parse(out) }
    }),
    told,
    file: Effect.fnUntraced(function* (name: string, text: string) {
      yield* files.writeFileString(`${home}/${name}`, text)
      return `${home}/${name}`
    })
  }
})
