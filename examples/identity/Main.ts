// bun examples/identity/Main.ts FOLDER
// Serves the example at its Capsule's address. FOLDER holds outputs.json, key.pem and cert.pem, see docs/identity-tutorial.md.
import { randomUUID } from "node:crypto"
import { readFileSync } from "node:fs"
import { createServer } from "node:https"
import { type Session, type Settings, signIn } from "./SignIn.ts"

const read = (name: string) => readFileSync(`${process.argv[2]}/${name}`, "utf8")
const { outputs }: { outputs: Array<{ name: string; value: string }> } = JSON.parse(read("outputs.json"))
const output = (name: keyof Settings) => outputs.find((each) => each.name === name)?.value ?? ""
const settings: Settings = {
  app_url: output("app_url"),
  issuer_url: output("issuer_url"),
  client_id: output("client_id"),
  redirect_uri: output("redirect_uri")
}
const pages = await signIn(settings)
const head = `<!doctype html><html lang="en"><meta charset="utf-8"><link rel="icon" href="data:,"><title>Notes</title>`
const sessions = new Map<string, Session>()

createServer({ key: read("key.pem"), cert: read("cert.pem") }, async (request, response) => {
  const url = new URL(request.url ?? "/", settings.app_url)
  const given = /__Host-session=([\w-]+)/.exec(request.headers.cookie ?? "")?.[1] ?? ""
  const key = sessions.has(given) ? given : randomUUID()
  const session = sessions.get(key) ?? {}
  sessions.set(key, session)
  const answer = await pages[url.pathname]?.(session, url).catch(() => {
    delete session.tokens
    return `<h1>You are not signed in</h1><a href="/sign-in">Sign in</a>`
  })
  response.setHeader("set-cookie", `__Host-session=${key}; Path=/; Secure; HttpOnly; SameSite=Lax`)
  response.setHeader("content-type", "text/html; charset=utf-8").setHeader("cache-control", "no-store")
  if (answer instanceof URL) response.writeHead(303, { location: answer.href }).end()
  else response.writeHead(answer === undefined ? 404 : 200).end(`${head}${answer ?? "Not found"}`)
}).listen(Number(new URL(settings.app_url).port), "localhost")
