import { Config, Effect, FileSystem, Option, Result, Schema, SchemaIssue, SchemaTransformation, Struct } from "effect"
import { optionalFamilies } from "../../schema/api/ExtensionFamily.ts"
import { ByteSize } from "../../schema/records/ByteSize.ts"
import { MailLanguage } from "../../actors/base/mail/MailTexts.ts"
import { UpstreamTrust } from "../../actors/access/member/ProvisioningRules.ts"
import { EmailAddress } from "../../schema/records/EmailAddress.ts"
import { displayText } from "../../schema/records/Primitives.ts"
import { embeddedOnly } from "./EmbeddedOnly.ts"
import { parseAddressRange } from "../http-kit/ClientAddress.ts"
import { formatListenAddress, isLoopbackHost, isPrivateInTransit, ListenAddress } from "../http-kit/ListenAddress.ts"
import type { SettingDefinition } from "./SettingDefinition.ts"
import { type SettingName, settingDefinitions, settingsFileEnv } from "./SettingDefinitions.ts"
import { SettingsRefused } from "./SettingsRefused.ts"
import { decodeJson } from "../../schema/json/JsonDocument.ts"
import type { JsonLimits } from "../../schema/json/JsonLimits.ts"

const limits: JsonLimits = {
  maxBytes: 64 * 1024,
  maxDepth: 2,
  maxNodes: 512,
  maxKeyBytes: 128,
  maxStringBytes: 32 * 1024
}

const FileValue = Schema.Union([Schema.String, Schema.Finite, Schema.Boolean, Schema.Array(Schema.String)])
const decodeValues = Schema.decodeUnknownEffect(Schema.Record(Schema.String, FileValue))

/**
 * Reads a settings file as strings. Fails with `SettingsRefused` unless the file contains a single JSON object with only
 * known keys.
 */
const readSettingsFile = Effect.fn("readSettingsFile")(function* (file: string) {
  const fileSystem = yield* FileSystem.FileSystem
  const refuse = (reason: string) => new SettingsRefused({ message: `The settings file ${file} ${reason}` })
  const bytes = yield* Effect.mapError(fileSystem.readFile(file), () => refuse("cannot be read."))
  const decoded = yield* Effect.fromResult(
    Result.mapError(decodeJson(bytes, limits), (refusal) => refuse(`is not valid. ${refusal.message}`))
  )
  const values = yield* Effect.mapError(decodeValues(decoded), () =>
    refuse("is not an object whose values are strings, numbers, booleans or lists of strings.")
  )
  const unknown = Object.keys(values).filter((key) => !Object.hasOwn(settingDefinitions, key))
  if (unknown.length > 0) {
    return yield* refuse(
      `names unknown settings: ${unknown.join(", ")}. Known are ${Object.keys(settingDefinitions).join(", ")}.`
    )
  }
  return new Map(
    Object.entries(values).map(([key, value]) => [key, typeof value === "object" ? value.join(",") : String(value)])
  )
})

const Origin = Schema.String.check(
  Schema.makeFilter(
    (text: string) => {
      const url = URL.canParse(text) ? new URL(text) : undefined
      return url !== undefined && (url.protocol === "https:" || url.protocol === "http:") && url.origin === text
    },
    { expected: "an origin such as https://svc.example.com, without path or trailing slash" }
  )
)

/** A single origin, without wildcards. */
const ExactOrigin = Origin.check(
  Schema.makeFilter((text: string) => !text.includes("*"), { expected: "a whole origin: there are no patterns" })
)

const IssuerUrl = Schema.String.check(
  Schema.makeFilter(
    (text: string) => {
      const url = URL.canParse(text) ? new URL(text) : undefined
      if (url === undefined || url.search !== "" || url.hash !== "" || url.username !== "") return false
      return isPrivateInTransit(url)
    },
    { expected: "an https URL without query and fragment (http on loopback only)" }
  )
)

const SmtpUrl = Schema.String.check(
  Schema.makeFilter(
    (text: string) => {
      const url = URL.canParse(text) ? new URL(text) : undefined
      if (url === undefined || !["smtp:", "smtps:"].includes(url.protocol) || url.hostname === "") return false
      return url.username === "" && url.password === "" && url.search === "" && /^\/?$/.test(url.pathname)
    },
    { expected: "smtps://host:port, or smtp://host:port, without user, password and path" }
  )
)

const Scopes = Schema.String.check(
  Schema.makeFilter(
    (text: string) => text.split(" ").includes("openid") && /^[\x21-\x7e]+(?: [\x21-\x7e]+)*$/.test(text),
    {
      expected: "scopes separated by single spaces, openid among them"
    }
  )
)

const AddressRange = Schema.String.check(
  Schema.makeFilter((text: string) => parseAddressRange(text) !== undefined, {
    expected: "an IP address or a range such as 10.0.0.0/8"
  })
)

const partsOf = (text: string): ReadonlyArray<string> =>
  text
    .split(",")
    .map((part) => part.trim())
    .filter((part) => part !== "")

const commaSeparated = <Item extends string>(item: Schema.Codec<Item, string>) =>
  Schema.String.pipe(
    Schema.decodeTo(
      Schema.Array(item),
      SchemaTransformation.transform<ReadonlyArray<string>, string>({
        decode: partsOf,
        encode: (parts) => parts.join(",")
      })
    )
  )

/**
 * Parses an address range and sets the bits after the prefix to zero, as the kernel requires. For example, `10.1.2.3/8`
 * becomes `10.0.0.0/8`.
 */
const ForbiddenRanges = Schema.String.pipe(
  Schema.decodeTo(
    Schema.Array(AddressRange),
    SchemaTransformation.transform<ReadonlyArray<string>, string>({
      decode: (text) => (text.trim() === "none" ? [] : partsOf(text)),
      encode: (parts) => (parts.length === 0 ? "none" : parts.join(","))
    })
  )
)

const Flag = Schema.Literals(["true", "false"]).transform([true, false])

const WholeNumber = (minimum: number, maximum: number) =>
  Schema.FiniteFromString.check(Schema.isInt(), Schema.isBetween({ minimum, maximum }))

/** Branded, so that programs that embed the library have to specify a unit for each size. */
const Size = ByteSize.pipe(Schema.brand("Size"))
const Text = Schema.NonEmptyString
const Secret = Schema.RedactedFromValue(Schema.NonEmptyString)

/** The address of a PostgreSQL database, including its credentials. */
export const DatabaseUrl = Schema.RedactedFromValue(
  Schema.NonEmptyString.check(
    Schema.makeFilter((text) => URL.canParse(text) && ["postgres:", "postgresql:"].includes(new URL(text).protocol), {
      expected: "postgres://user:password@host:port/database"
    })
  )
)

const settingFields = {
  dataDir: Text,
  installation: Schema.optionalKey(Text),
  databaseUrl: Schema.optionalKey(DatabaseUrl),
  listen: ListenAddress,
  baseUrl: Schema.optionalKey(Origin),
  plainHttp: Schema.Literals(["loopback", "anywhere"]),
  trustedProxies: commaSeparated(AddressRange),
  corsOrigins: commaSeparated(ExactOrigin),
  familiesOff: commaSeparated(Schema.Literals(optionalFamilies)),
  name: Text,
  passwordSignIn: Schema.Literals(["on", "off"]),
  upstreamOidcIssuer: Schema.optionalKey(IssuerUrl),
  upstreamOidcClientId: Schema.optionalKey(Text),
  upstreamOidcClientSecret: Schema.optionalKey(Secret),
  upstreamOidcName: Schema.optionalKey(displayText(40)),
  upstreamOidcTrust: UpstreamTrust,
  upstreamOidcScopes: Scopes,
  upstreamOidcGroupsClaim: displayText(200),
  smtpUrl: Schema.optionalKey(SmtpUrl),
  smtpFrom: Schema.optionalKey(EmailAddress),
  smtpUser: Schema.optionalKey(Text),
  smtpPassword: Schema.optionalKey(Secret),
  smtpPasswordFile: Schema.optionalKey(Text),
  smtpCaFile: Schema.optionalKey(Text),
  mailLanguage: MailLanguage,
  oidcClientsFile: Schema.optionalKey(Text),
  oidcRefreshGrace: WholeNumber(0, 30),
  oidcClientId: Schema.optionalKey(Text),
  masterKey: Schema.optionalKey(Secret),
  masterKeyFile: Schema.optionalKey(Text),
  masterKeyCommand: Schema.optionalKey(Text),
  gitAllowOrigins: commaSeparated(Origin),
  noticeAllowOrigins: commaSeparated(Origin),
  gitNative: Schema.Literals(["auto", "off", "required"]),
  policyFile: Schema.optionalKey(Text),
  tool: Text,
  toolDownload: Schema.Literals(["on", "off"]),
  toolMirror: Schema.optionalKey(Text),
  toolMirrorKey: Schema.optionalKey(Text),
  toolVersion: Schema.optionalKey(Text),
  toolSha256: Schema.optionalKey(Text),
  providerMirror: Schema.optionalKey(Text),
  providerMirrorRequired: Flag,
  runnerIsolation: Schema.Literals(["auto", "required", "off"]),
  runnerNetwork: Schema.Literals(["auto", "isolated", "host"]),
  runnerForbiddenRanges: ForbiddenRanges,
  runMemory: Schema.Union([Schema.Literal("auto"), Size]),
  runProcesses: WholeNumber(16, 1_000_000),
  runTmp: Size,
  runShm: Size,
  runFolder: Size,
  runFreeDisk: Size,
  runConcurrency: WholeNumber(1, 256),
  workspaceRunConcurrency: Schema.optionalKey(WholeNumber(1, 256)),
  buildConcurrency: WholeNumber(1, 256),
  workspaceBuildConcurrency: Schema.optionalKey(WholeNumber(1, 256)),
  workspaceQueue: WholeNumber(1, 1_000_000),
  keepLogs: WholeNumber(7, 36_500),
  keepEvents: WholeNumber(7, 36_500),
  keepRuns: WholeNumber(7, 36_500),
  keepStates: WholeNumber(7, 36_500),
  keepSnapshots: WholeNumber(7, 36_500),
  keepPlans: WholeNumber(7, 36_500),
  keepAgentFiles: WholeNumber(1, 36_500),
  forgetAgents: WholeNumber(1, 36_500),
  keepCapsuleBackups: WholeNumber(7, 36_500),
  backupSnapshots: Flag,
  backupDirectory: Schema.optionalKey(Text),
  backupInterval: WholeNumber(1, 8760),
  backupKeep: WholeNumber(1, 10_000),
  keepAudit: Schema.optionalKey(WholeNumber(30, 36_500)),
  operatorListen: Schema.optionalKey(ListenAddress),
  drainDelay: WholeNumber(0, 300),
  otlpUrl: Schema.optionalKey(Text),
  log: Schema.Literals(["trace", "debug", "info", "warn", "error", "none"]),
  logFormat: Schema.Literals(["pretty", "json"])
} satisfies Record<SettingName, Schema.Top>

/** All settings with their values. */
export const Settings = Schema.Struct(settingFields)
export type Settings = typeof Settings.Type

/** Values of flags, by setting. An empty string is treated as absent. */
export type GivenFlags = ReadonlyMap<string, string>

const decodeSettings = Schema.decodeUnknownEffect(Settings, { errors: "all" })
const formatIssues = SchemaIssue.makeFormatterStandardSchemaV1()

const definitions: ReadonlyArray<readonly [name: string, definition: SettingDefinition]> =
  Object.entries(settingDefinitions)

const environmentOf = (name: string) => definitions.find(([known]) => known === name)?.[1].env ?? ""

const fromEnvironment = (name: string) =>
  Effect.map(Config.option(Config.String(name)), (found) => Option.getOrElse(found, () => ""))

/**
 * Returns true if people on other machines reach the server without TLS, so that passwords and sessions can be read in
 * transit.
 */
export const isPlainBeyondLoopback = ({ baseUrl, listen }: Pick<Settings, "baseUrl" | "listen">): boolean =>
  !isLoopbackHost(listen.host) && baseUrl?.startsWith("https:") !== true

export const plainHttpWarning =
  "Plain http is served beyond loopback (SVC_PLAIN_HTTP=anywhere): passwords, sessions and tokens can be read and changed on the network. Put a proxy with TLS in front and set SVC_BASE_URL to its https origin."

const transportContradiction = (settings: Settings): string | undefined =>
  settings.plainHttp === "loopback" && isPlainBeyondLoopback(settings)
    ? `SVC_LISTEN is ${formatListenAddress(settings.listen)}, which is beyond loopback, and no https SVC_BASE_URL shows that a proxy with TLS is in front. Set SVC_BASE_URL to the https origin that people use, listen on loopback, or set SVC_PLAIN_HTTP=anywhere to serve passwords and sessions unencrypted.`
    : undefined

// Providers from which anybody can get an identity. A subject from such a provider does not prove which organisation a
// person belongs to.
const sharedHosts: ReadonlySet<string> = new Set([
  "accounts.google.com",
  "gitlab.com",
  "appleid.apple.com",
  "login.live.com"
])
const entraHosts: ReadonlySet<string> = new Set([
  "login.microsoftonline.com",
  "login.microsoftonline.us",
  "login.partner.microsoftonline.cn",
  "login.windows.net",
  "sts.windows.net"
])
const sharedTenants: ReadonlySet<string> = new Set([
  "common",
  "organizations",
  "consumers",
  "9188040d-6c67-4c5b-b112-36a304b66dad"
])

const isShared = (issuer: string): boolean => {
  const { hostname: host, pathname } = new URL(issuer)
  // Ignore a trailing dot, which does not change the host.
  const hostname = host.replace(/\.$/, "")
  const [, tenant = ""] = pathname.toLowerCase().split("/")
  return sharedHosts.has(hostname) || (entraHosts.has(hostname) && sharedTenants.has(tenant))
}

/** Returns the reason why the configured kind of trust is wrong for the upstream provider, if any. */
const trustContradiction = ({ upstreamOidcIssuer, upstreamOidcTrust }: Settings): string | undefined =>
  upstreamOidcTrust === "single_tenant" && upstreamOidcIssuer !== undefined && isShared(upstreamOidcIssuer)
    ? "SVC_UPSTREAM_OIDC_TRUST=single_tenant means that the provider serves only one organisation, but SVC_UPSTREAM_OIDC_ISSUER signs in people of every organisation. Set the issuer of your own tenant, or set email_verified."
    : undefined

/** Describes the missing settings of the mail server, if any. */
const mailContradiction = (settings: Settings): string | undefined => {
  const { smtpCaFile, smtpFrom, smtpPassword, smtpPasswordFile, smtpUrl, smtpUser } = settings
  const others = [smtpFrom, smtpUser, smtpPassword, smtpPasswordFile, smtpCaFile]
  if (smtpUrl === undefined) {
    return others.every((part) => part === undefined)
      ? undefined
      : "The mail server has settings, but SVC_SMTP_URL does not contain its address."
  }
  if (smtpFrom === undefined) return "SVC_SMTP_URL needs SVC_SMTP_FROM, the address that mails come from."
  const passwords = [smtpPassword, smtpPasswordFile].filter((part) => part !== undefined).length
  if (passwords > 1) return "Give one of SVC_SMTP_PASSWORD and SVC_SMTP_PASSWORD_FILE."
  return (smtpUser === undefined) === (passwords === 0)
    ? undefined
    : "SVC_SMTP_USER and its password (SVC_SMTP_PASSWORD or SVC_SMTP_PASSWORD_FILE) are needed together."
}

/** Returns the reason why nobody could sign in with these settings, if any. */
const signInContradiction = (settings: Settings): string | undefined => {
  const { passwordSignIn, upstreamOidcClientId, upstreamOidcClientSecret, upstreamOidcIssuer } = settings
  const given = [upstreamOidcIssuer, upstreamOidcClientId, upstreamOidcClientSecret].filter(
    (part) => part !== undefined
  )
  if (given.length > 0 && given.length < 3) {
    return "Upstream sign-in needs SVC_UPSTREAM_OIDC_ISSUER, SVC_UPSTREAM_OIDC_CLIENT_ID and SVC_UPSTREAM_OIDC_CLIENT_SECRET together."
  }
  return passwordSignIn === "off" && given.length === 0
    ? "SVC_PASSWORD_SIGN_IN is off and no upstream provider is set, so nobody could sign in. Turn one of them on."
    : undefined
}

/** Describes the contradiction, if any, that backups are scheduled but the database is not in the data folder. */
const backupContradiction = ({ backupDirectory, databaseUrl }: Settings): string | undefined =>
  databaseUrl === undefined || backupDirectory === undefined
    ? undefined
    : `SVC_BACKUP_DIRECTORY is for the database in the data folder. ${embeddedOnly}`

/** Lists every invalid setting with the expected value. */
const invalidSettings = (error: Schema.SchemaError) => {
  const faults = formatIssues(error.issue).issues.map(
    ({ message, path }) => `${String(path?.[0])} (${environmentOf(String(path?.[0]))}): ${message}`
  )
  return new SettingsRefused({ message: `The settings are not valid. ${faults.join("; ")}` })
}

/**
 * Resolves every setting from its flag, the environment, the settings file or its default, in this order. Fails with
 * `SettingsRefused` for unknown keys in the file and for invalid values.
 */
export const loadSettings = Effect.fn("loadSettings")(
  function* (flags: GivenFlags, configFile: Option.Option<string>) {
    const file = Option.getOrElse(configFile, () => "") || (yield* fromEnvironment(settingsFileEnv))
    const fromFile: ReadonlyMap<string, string> = file === "" ? new Map() : yield* readSettingsFile(file)
    const settled: Record<string, string> = {}
    for (const [name, definition] of definitions) {
      const given = flags.get(name) || (yield* fromEnvironment(definition.env)) || fromFile.get(name)
      const value = given || definition.default
      if (value !== undefined) settled[name] = value
    }
    const settings = yield* decodeSettings(settled)
    const contradiction =
      signInContradiction(settings) ??
      trustContradiction(settings) ??
      mailContradiction(settings) ??
      backupContradiction(settings) ??
      transportContradiction(settings)
    return contradiction === undefined ? settings : yield* new SettingsRefused({ message: contradiction })
  },
  Effect.catchTags({
    ConfigError: (error) => new SettingsRefused({ message: `The environment cannot be read: ${error.message}` }),
    SchemaError: invalidSettings
  })
)

/** Converts the value of a setting to its text in a settings file. */
export const settingText = (name: SettingName, value: unknown): Effect.Effect<string, SettingsRefused> =>
  Schema.encodeUnknownEffect(Settings.mapFields(Struct.pick([name])))({ [name]: value }).pipe(
    Effect.map((texts) => texts[name] ?? ""),
    Effect.mapError(invalidSettings)
  )

/** Returns the upstream provider for sign-in, if it is configured. */
export const upstreamProvider = (settings: Settings) => {
  const {
    upstreamOidcClientId: clientId,
    upstreamOidcClientSecret: clientSecret,
    upstreamOidcIssuer: issuer,
    upstreamOidcName: name
  } = settings
  return issuer === undefined || clientId === undefined || clientSecret === undefined
    ? undefined
    : {
        issuer,
        clientId,
        clientSecret,
        name: name ?? new URL(issuer).host,
        trust: settings.upstreamOidcTrust,
        scopes: settings.upstreamOidcScopes,
        groupsClaim: settings.upstreamOidcGroupsClaim
      }
}

/** Returns the mail server, if it is configured. */
export const mailServer = (settings: Settings) => {
  const { name, smtpCaFile, smtpFrom, smtpPassword, smtpPasswordFile, smtpUrl, smtpUser } = settings
  return smtpUrl === undefined || smtpFrom === undefined
    ? undefined
    : {
        url: smtpUrl,
        from: { name, address: smtpFrom },
        user: smtpUser,
        password: smtpPassword,
        passwordFile: smtpPasswordFile,
        caFile: smtpCaFile
      }
}

/** Returns the source of the vault's master key. */
export const masterKeySource = (settings: Settings, defaultFile: string) => {
  if (settings.masterKey !== undefined) return { kind: "value", value: settings.masterKey } as const
  if (settings.masterKeyCommand !== undefined) return { kind: "command", command: settings.masterKeyCommand } as const
  return settings.masterKeyFile === undefined
    ? ({ kind: "file", file: defaultFile, create: true } as const)
    : ({ kind: "file", file: settings.masterKeyFile, create: false } as const)
}
