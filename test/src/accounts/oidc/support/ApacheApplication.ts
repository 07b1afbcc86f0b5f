import { NodeServices } from "@effect/platform-node"
import { Effect, FileSystem } from "effect"
import { ChildProcess, ChildProcessSpawner } from "effect/process"
import { existsSync } from "node:fs"
import { fetchServer } from "../../../../support/FetchServer.ts"
import { eventually } from "../../../../support/Eventually.ts"
import { temporaryFolder } from "../../../../support/TemporaryFolder.ts"
import { secret } from "./IssuerFixture.ts"

const modules = "/usr/lib/apache2/modules"
const program = "/usr/sbin/apache2"

/** The installation paths of Debian's apache2-bin and libapache2-mod-auth-openidc packages. */
export const hasApache = existsSync(program) && existsSync(`${modules}/mod_auth_openidc.so`)

/** Picks a free loopback port in advance, because Apache cannot report which port it was assigned. */
export const freeOrigin = Effect.scoped(fetchServer(() => new Response()))

const claims = ["sub", "name", "preferred_username", "email", "email_verified", "groups"] as const

const configuration = (folder: string, issuer: string, origin: string) => `
ServerRoot ${folder}
ServerName 127.0.0.1
Listen ${new URL(origin).host}
PidFile ${folder}/pid
ErrorLog ${folder}/error.log
User www-data
Group www-data
LoadModule mpm_event_module ${modules}/mod_mpm_event.so
LoadModule authn_core_module ${modules}/mod_authn_core.so
LoadModule authz_core_module ${modules}/mod_authz_core.so
LoadModule authz_user_module ${modules}/mod_authz_user.so
LoadModule headers_module ${modules}/mod_headers.so
LoadModule auth_openidc_module ${modules}/mod_auth_openidc.so
DocumentRoot ${folder}/site
OIDCProviderMetadataURL ${issuer}/.well-known/openid-configuration
OIDCClientID apache
OIDCClientSecret ${secret}
OIDCRedirectURI ${origin}/signed-in
OIDCDefaultLoggedOutURL ${origin}/bye
OIDCCryptoPassphrase only-for-this-test-and-long-enough
OIDCScope "openid profile email groups"
OIDCPKCEMethod S256
OIDCPassClaimsAs environment
<Location />
  AuthType openid-connect
  Require valid-user
  ${claims.map((name) => `Header always set x-${name.replaceAll("_", "-")} "%{OIDC_CLAIM_${name}}e"`).join("\n  ")}
</Location>
<Location /owners>
  Require claim groups:relying:owner
</Location>
<Location /strangers>
  Require claim groups:elsewhere:owner
</Location>
<Location /bye>
  Require all granted
</Location>
`

/** Runs Apache with mod_auth_openidc as a client of the issuer until the Scope closes. */
export const apacheAt = Effect.fnUntraced(function* (issuer: string, origin: string) {
  const files = yield* FileSystem.FileSystem
  const spawner = yield* ChildProcessSpawner.ChildProcessSpawner
  const folder = yield* temporaryFolder
  // Apache's workers run as another user, who must be able to read these files.
  yield* files.chmod(folder, 0o755)
  yield* files.makeDirectory(`${folder}/site`)
  for (const page of ["index.html", "owners", "strangers", "bye"]) {
    yield* files.writeFileString(`${folder}/site/${page}`, `the page ${page}`)
  }
  yield* files.writeFileString(`${folder}/apache.conf`, configuration(folder, issuer, origin))
  const server = yield* spawner.spawn(
    ChildProcess.make(program, ["-X", "-d", folder, "-f", `${folder}/apache.conf`], {
      stdin: "ignore",
      stdout: "ignore",
      stderr: "ignore"
    })
  )
  yield* eventually(
    Effect.promise(() =>
      fetch(`${origin}/bye`).then(
        ({ status }) => status,
        () => 0
      )
    ),
    (status) => status === 200
  ).pipe(
    Effect.raceFirst(
      Effect.flatMap(server.exitCode, (code) => Effect.die(new Error(`Apache ended with ${String(code)}`)))
    )
  )
}, Effect.provide(NodeServices.layer))
