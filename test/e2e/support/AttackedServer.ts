import { expect } from "bun:test"
import { Context, Effect, FileSystem, Layer, Option, Redacted, References } from "effect"
import { SqlClient } from "effect/sql"
import { Passwords } from "../../../actors/access/account/Passwords.ts"
import { Users } from "../../../actors/access/account/Users.ts"
import { serviceContext } from "../../../schema/commands/Command.ts"
import { controlPlane } from "../../../src/Composition.ts"
import { platform } from "../../../src/composition/Platform.ts"
import { HttpListener } from "../../../src/http/HttpListener.ts"
import { loadSettings } from "../../../src/settings/Settings.ts"
import { placeMigratedDatabase } from "../../support/MigratedDatabase.ts"

/** A platform that logs nothing, because these tests cause hundreds of refusals. */
export const quietPlatform = Layer.merge(Layer.fresh(platform), Layer.succeed(References.MinimumLogLevel, "None"))

export const sessionCookie = "__Host-svc_session"

/** The public address of the server, which listens on loopback. */
export const attackedOrigin = "https://svc.example.test"

export interface AttackAnswer {
  readonly status: number
  readonly headers: Headers
  readonly location: string
  readonly text: string
}

/** The headers that a browser sends from a page of this server. */
export const fromOwnPage = { origin: attackedOrigin, "sec-fetch-site": "same-origin" } as const

let addresses = 0
/** Returns an unused client address, so that an attack does not count towards the limits of the next attack. */
export const freshAddress = (): string => {
  addresses += 1
  return `198.18.${addresses >> 8}.${addresses & 255}`
}

/** Creates a browser with its own cookies that reaches the server through the trusted proxy. */
export const browserAt = (url: string, address = freshAddress()) => {
  const jar = new Map<string, string>()
  const visit = async (
    path: string,
    init: {
      readonly method?: string
      readonly headers?: Readonly<Record<string, string>>
      readonly body?: unknown
      /** Form fields to send instead of a JSON body. */
      readonly fields?: Readonly<Record<string, string>>
    } = {}
  ): Promise<AttackAnswer> => {
    const { fields } = init
    const { body, headers, method = body === undefined && fields === undefined ? "GET" : "POST" } = init
    const cookie = [...jar].map(([name, value]) => `${name}=${value}`).join("; ")
    const response = await fetch(new URL(path, url), {
      method,
      redirect: "manual",
      headers: {
        "x-forwarded-for": address,
        ...(cookie === "" ? {} : { cookie }),
        ...(body === undefined ? {} : { "content-type": "application/json" }),
        ...headers
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      ...(fields === undefined ? {} : { body: new URLSearchParams(fields) })
    })
    for (const line of response.headers.getSetCookie()) {
      const [name = "", value = ""] = (line.split(";")[0] ?? "").split("=")
      if (value === "") jar.delete(name)
      else jar.set(name, value)
    }
    return {
      status: response.status,
      headers: response.headers,
      location: response.headers.get("location") ?? "",
      text: await response.text()
    }
  }
  /** Sends a request as a page of the server would. */
  const act = (path: string, body?: unknown, method?: string) =>
    visit(path, { headers: fromOwnPage, ...(body === undefined ? {} : { body }), ...(method ? { method } : {}) })
  const form = (
    path: string,
    fields: Readonly<Record<string, string>>,
    headers: Readonly<Record<string, string>> = fromOwnPage
  ) => visit(path, { fields, headers })
  return { jar, visit, act, form, address }
}
export type AttackBrowser = ReturnType<typeof browserAt>

export const attempt = <A>(body: () => Promise<A>) => Effect.promise(body)

/** Returns the subject of the browser's session if the server accepts the session. */
export const whoIs = async (browser: AttackBrowser): Promise<string | undefined> => {
  const { status, text } = await browser.visit("/auth/session")
  return status === 200 ? JSON.parse(text).user.subject : undefined
}

export const signInAs = async (browser: AttackBrowser, name: string) => {
  const done = await browser.act("/auth/sign-in", { email: `${name}@example.test`, password: passwordOf(name) })
  expect([name, done.status]).toEqual([name, 200])
}

/** Returns the error code of a refusal. */
export const codeOf = ({ text }: AttackAnswer): string => /"code":"(\w+)"/.exec(text)?.[1] ?? text.slice(0, 80)

export const passwordOf = (name: string) => `correct horse battery ${name}`

/** Serves the entire product on loopback, for attacks over HTTP. Uses the given data folder, or a temporary one. */
export const attackedServer = Effect.fnUntraced(function* (
  settings: Readonly<Record<string, string>> = {},
  folder?: string
) {
  const files = yield* FileSystem.FileSystem
  const dataDir = folder ?? `${yield* files.makeTempDirectoryScoped({ prefix: "svc-attacked-" })}/data`
  if (!(yield* files.exists(dataDir))) yield* placeMigratedDatabase(dataDir)
  const loaded = yield* loadSettings(
    new Map(
      Object.entries({
        dataDir,
        listen: "127.0.0.1:0",
        baseUrl: attackedOrigin,
        trustedProxies: "127.0.0.1",
        log: "none",
        runnerNetwork: "host",
        toolDownload: "off",
        ...settings
      })
    ),
    Option.none()
  )
  const services = yield* Layer.build(Layer.fresh(controlPlane(loaded)))
  const users = Context.get(services, Users)
  const passwords = Context.get(services, Passwords)
  return {
    url: Context.get(services, HttpListener).url,
    dataDir,
    services,
    sql: Context.get(services, SqlClient.SqlClient),
    /** Creates a person who signs in with {@link passwordOf} their name. */
    person: Effect.fnUntraced(function* (
      name: string,
      options: { readonly unproven?: boolean; readonly operator?: boolean } = {}
    ) {
      const { subject } = yield* users.create(serviceContext, {
        email: `${name}@example.test`,
        emailProof: options.unproven === true ? undefined : "operator",
        isOperator: options.operator === true,
        passwordHash: yield* passwords.hash(Redacted.make(passwordOf(name)))
      })
      return subject
    })
  }
})

export type AttackedServer = Effect.Success<ReturnType<typeof attackedServer>>
