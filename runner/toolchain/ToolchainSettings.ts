import { Config, Option, Schema } from "effect"

/** The OpenTofu release for managed downloads, unless `SVC_TOOL_VERSION` sets a different one. */
export const pinnedVersion = "1.11.11"

const releases = "https://github.com/opentofu/opentofu/releases/download"

// Address of the key with which the OpenTofu project signs its releases. The downloaded key is trusted only if it has the known
// fingerprint.
const officialKeyUrl = new URL("https://get.opentofu.org/opentofu.asc")
const officialKeyFingerprint = "E3E6E43D84CB852EADB0051D0C0AF313E5FD9F80"

const Version = Schema.String.check(Schema.isPattern(/^\d+\.\d+\.\d+$/))
const Sha256 = Schema.String.check(Schema.isPattern(/^[0-9a-f]{64}$/))
const Mirror = Schema.URLFromString.check(
  Schema.makeFilter((url) =>
    ["https:", "http:"].includes(url.protocol) && url.username === "" && url.password === "" && url.search === ""
      ? undefined
      : "expected an http(s) URL without credentials and query"
  )
)

/** Settings for finding the tool. */
export interface ToolchainSettings {
  /** Path of the executable to use. If unset, svc searches for one. */
  readonly tool: Option.Option<string>
  /** Folders to search for `tofu` and `terraform`, in the form of PATH. */
  readonly searchPath: string
  /** Settings of managed downloads, or `none` to disable them. */
  readonly download: Option.Option<DownloadSettings>
}

export interface DownloadSettings {
  /** Base URL. The files are at `<mirror>/v<version>/tofu_<version>_<os>_<arch>.tar.gz`. */
  readonly mirror: URL
  readonly version: string
  /**
   * The OpenPGP public key that verifies the signature of the checksums: armored text, or the path of a file that contains
   * armored text.
   */
  readonly trustedKey: Option.Option<string>
  /**
   * URL of the project's own key, used if no key is configured, and the fingerprint (hexadecimal, upper case) that it must have.
   */
  readonly officialKey: { readonly url: URL; readonly fingerprint: string }
  /** SHA-256 (hexadecimal) of the archive for this platform, which is trusted instead of a signature. */
  readonly archiveSha256: Option.Option<string>
}

/**
 * Reads `SVC_TOOL`, `SVC_TOOL_DOWNLOAD`, `SVC_TOOL_MIRROR`, `SVC_TOOL_MIRROR_KEY`, `SVC_TOOL_VERSION`, `SVC_TOOL_SHA256` and
 * `PATH`.
 */
export const toolchainConfig: Config.Config<ToolchainSettings> = Config.all({
  tool: Config.NonEmptyString("SVC_TOOL").pipe(Config.withDefault("auto")),
  searchPath: Config.String("PATH").pipe(Config.withDefault("")),
  download: Config.Literals(["on", "off"], "SVC_TOOL_DOWNLOAD").pipe(Config.withDefault("on")),
  mirror: Config.option(Config.schema(Mirror, "SVC_TOOL_MIRROR")),
  version: Config.schema(Version, "SVC_TOOL_VERSION").pipe(Config.withDefault(pinnedVersion)),
  trustedKey: Config.option(Config.NonEmptyString("SVC_TOOL_MIRROR_KEY")),
  archiveSha256: Config.option(Config.schema(Sha256, "SVC_TOOL_SHA256"))
}).pipe(
  Config.map(({ tool, searchPath, download, mirror, ...release }) => {
    const officialKey = {
      url: Option.match(mirror, {
        onNone: () => officialKeyUrl,
        onSome: (own) => new URL("opentofu.asc", own.href.endsWith("/") ? own : `${own.href}/`)
      }),
      fingerprint: officialKeyFingerprint
    }
    const source = { ...release, officialKey, mirror: Option.getOrElse(mirror, () => new URL(releases)) }
    return {
      tool: tool === "auto" ? Option.none() : Option.some(tool),
      searchPath,
      download: download === "on" ? Option.some(source) : Option.none()
    }
  })
)
