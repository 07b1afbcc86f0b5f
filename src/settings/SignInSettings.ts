import { define } from "./SettingDefinition.ts"

/** The sign-in methods: passwords, and another provider. */
export const signInSettings = define({
  passwordSignIn: {
    env: "SVC_PASSWORD_SIGN_IN",
    flag: "password-sign-in",
    metavar: "on|off",
    default: "on",
    description: "Whether people sign in with a password; off needs an upstream provider"
  },
  upstreamOidcIssuer: {
    env: "SVC_UPSTREAM_OIDC_ISSUER",
    flag: "upstream-oidc-issuer",
    metavar: "url",
    description: "OpenID provider that people may sign in with; https, or http on loopback"
  },
  upstreamOidcClientId: {
    env: "SVC_UPSTREAM_OIDC_CLIENT_ID",
    flag: "upstream-oidc-client-id",
    metavar: "id",
    description: "Client id at the upstream provider; its redirect URI is <base url>/auth/upstream/callback"
  },
  upstreamOidcClientSecret: {
    env: "SVC_UPSTREAM_OIDC_CLIENT_SECRET",
    metavar: "secret",
    description: "Client secret at the upstream provider. Environment or file only, never a flag"
  },
  upstreamOidcName: {
    env: "SVC_UPSTREAM_OIDC_NAME",
    flag: "upstream-oidc-name",
    metavar: "text",
    description: "What the sign-in page calls the upstream provider; the host of its address when absent"
  },
  upstreamOidcTrust: {
    env: "SVC_UPSTREAM_OIDC_TRUST",
    flag: "upstream-oidc-trust",
    metavar: "email_verified|single_tenant",
    default: "email_verified",
    description:
      "How the provider's identities are recognised: by addresses that it verified, or, where it verifies none and serves one organisation alone, by its subject ids only"
  },
  upstreamOidcScopes: {
    env: "SVC_UPSTREAM_OIDC_SCOPES",
    flag: "upstream-oidc-scopes",
    metavar: "scopes",
    default: "openid email profile",
    description: "Scopes asked of the upstream provider, separated by spaces"
  },
  upstreamOidcGroupsClaim: {
    env: "SVC_UPSTREAM_OIDC_GROUPS_CLAIM",
    flag: "upstream-oidc-groups-claim",
    metavar: "name",
    default: "groups",
    description: "Claim in which the upstream provider lists a person's groups"
  }
})
