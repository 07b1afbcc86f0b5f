import { credentialRecipes, isForgeRecipe } from "../../../../actors/inputs/connection/CredentialRecipes.ts"
import type { Connection, CredentialRecipe, OAuthHelper } from "../../../../src/dashboard/api/Types.ts"
import { ago, text } from "./Seeds.ts"
import { workspaceId } from "./Workspaces.ts"

export const connections: ReadonlyArray<Connection> = [
  {
    id: "conn_0000000000000001",
    workspaceId,
    scope: "workspace",
    provider: "hashicorp/aws",
    kind: "provider",
    recipeId: "aws-access-key",
    authMode: "access_key",
    displayName: "AWS production",
    status: "verified",
    envNames: ["AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"],
    fileNames: [],
    providerConfig: { region: "ap-northeast-1" },
    moduleInputDefaults: {},
    use: { roles: ["owner", "admin"] },
    version: 1,
    lastUsedAt: ago(12),
    verifiedAt: ago(5000),
    expiresAt: new Date(Date.now() + 40 * 86_400_000).toISOString(),
    createdAt: ago(100_000),
    updatedAt: ago(5000)
  },
  {
    id: "conn_0000000000000002",
    workspaceId,
    scope: "workspace",
    provider: "git",
    kind: "git_https",
    recipeId: "git-https-token",
    authMode: "token",
    displayName: "git.acme.example reader",
    status: "verified",
    envNames: ["token"],
    fileNames: [],
    origins: ["https://git.acme.example"],
    providerConfig: {},
    moduleInputDefaults: {},
    use: { roles: ["owner", "admin"] },
    version: 1,
    lastUsedAt: ago(12),
    createdAt: ago(90_000),
    updatedAt: ago(90_000)
  },
  {
    id: "conn_0000000000000003",
    scope: "operator",
    provider: "cloudflare/cloudflare",
    kind: "provider",
    recipeId: "cloudflare-token",
    authMode: "api_token",
    displayName: "Shared DNS zone",
    status: "expired",
    envNames: ["CLOUDFLARE_API_TOKEN"],
    fileNames: [],
    providerConfig: {},
    moduleInputDefaults: {},
    use: { roles: ["owner", "admin"] },
    version: 1,
    createdAt: ago(300_000),
    updatedAt: ago(300_000)
  },
  // A connection created before connections had origins. A member has used the connection with a server of their choice.
  {
    id: "conn_0000000000000004",
    workspaceId,
    scope: "workspace",
    provider: "git",
    kind: "git_https",
    recipeId: "git-https-token",
    authMode: "token",
    displayName: "Deploy token",
    status: "verified",
    envNames: ["token"],
    fileNames: [],
    use: { roles: ["owner", "admin"] },
    version: 1,
    origins: [],
    proposedOrigins: [
      {
        origin: "https://git.acme.example",
        sources: [
          {
            id: "src_0000000000000001",
            name: "infrastructure",
            url: "https://git.acme.example/infrastructure.git",
            chosenBy: "usr_0000000000000001"
          }
        ]
      },
      {
        origin: "https://git.stranger.example",
        sources: [{ id: "src_0000000000000002", name: "handy", url: "https://git.stranger.example/handy.git" }]
      }
    ],
    providerConfig: {},
    moduleInputDefaults: {},
    createdAt: ago(300_000),
    updatedAt: ago(300_000)
  },
  {
    id: "conn_0000000000000005",
    workspaceId,
    scope: "workspace",
    provider: "acme/cloud",
    kind: "provider",
    recipeId: "generic-env",
    authMode: "env",
    displayName: "Acme Cloud",
    status: "error",
    envNames: ["ACME_TOKEN"],
    fileNames: [],
    providerConfig: {},
    moduleInputDefaults: {},
    use: { roles: ["owner", "admin"] },
    oauth: {
      helperId: "acme-cloud",
      scopes: ["projects.write"],
      refreshable: true,
      accessTokenExpiresAt: ago(30),
      grantedAt: ago(90),
      fault: {
        code: "refresh_refused",
        message:
          "The authorization is not valid any more: id.acme.example refused to renew the access token: invalid_grant.",
        at: ago(30)
      }
    },
    version: 1,
    createdAt: ago(40_000),
    updatedAt: ago(30)
  }
]

export const recipes: ReadonlyArray<CredentialRecipe> = [
  {
    id: "generic-env",
    provider: "*",
    displayName: text("Generic environment and files", "汎用(環境変数とファイル)"),
    description: text(
      "Gives any provider its credentials as environment variables or files.",
      "任意のプロバイダーに、環境変数やファイルで認証情報を渡します。"
    ),
    authModes: [
      { id: "env", label: text("Environment and files", "環境変数・ファイル"), values: [], files: [] },
      { id: "none", label: text("No credentials", "認証情報なし"), values: [], files: [] }
    ]
  },
  {
    id: "aws-access-key",
    provider: "hashicorp/aws",
    displayName: text("AWS access key", "AWS アクセスキー"),
    description: text("Keys of an IAM user or of temporary credentials.", "IAM ユーザーまたは一時認証情報のキー。"),
    authModes: [
      {
        id: "access_key",
        label: text("Access key", "アクセスキー"),
        values: [
          { name: "AWS_ACCESS_KEY_ID", label: text("Access key ID", "アクセスキー ID"), required: true, secret: true },
          {
            name: "AWS_SECRET_ACCESS_KEY",
            label: text("Secret access key", "シークレットアクセスキー"),
            required: true,
            secret: true
          }
        ],
        files: []
      }
    ],
    documentationUrl: "https://search.opentofu.org/provider/hashicorp/aws/latest"
  },
  {
    id: "git-https-token",
    provider: "git",
    displayName: text("Git over HTTPS", "Git(HTTPS トークン)"),
    description: text("A token that may read a private repository.", "非公開リポジトリを読むためのトークン。"),
    authModes: [
      {
        id: "token",
        label: text("Token", "トークン"),
        values: [
          { name: "username", label: text("User name", "ユーザー名"), required: false, secret: false },
          { name: "token", label: text("Token", "トークン"), required: true, secret: true }
        ],
        files: []
      }
    ]
  },
  ...credentialRecipes.filter(isForgeRecipe)
]

export const oauthHelpers: ReadonlyArray<OAuthHelper> = [
  {
    id: "acme-cloud",
    displayName: "Acme Cloud",
    issuer: "https://id.acme.example",
    scopes: ["projects.write"],
    provider: "acme/cloud",
    kind: "provider",
    recipeId: "generic-env",
    authMode: "env",
    valueNames: ["ACME_TOKEN"]
  }
]
