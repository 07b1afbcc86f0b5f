import { Schema } from "effect"
import type { CredentialRecipe } from "../../../schema/records/Connection.ts"
import { ForgeKind } from "../../../schema/records/Forge.ts"

const secret = (name: string, ja: string, en: string, required: boolean, argument?: string) => ({
  name,
  label: { ja, en },
  required,
  secret: true,
  ...(argument === undefined ? {} : { argument })
})
const plain = (name: string, ja: string, en: string, required: boolean, argument?: string) => ({
  ...secret(name, ja, en, required, argument),
  secret: false
})

/** Recipe for providers that have no specific recipe: any environment variables and files. */
export const genericRecipeId = "generic-env"

/** Name of the file with the private key of a GitHub App. */
export const appKeyFile = "private-key.pem"

/** Setup help for known providers. A provider without a recipe uses `generic-env`, so recipes are optional. */
export const credentialRecipes: ReadonlyArray<CredentialRecipe> = [
  {
    id: genericRecipeId,
    provider: "*",
    displayName: { ja: "汎用（環境変数とファイル）", en: "Generic environment and files" },
    description: {
      ja: "任意のプロバイダーに、環境変数やファイルで認証情報を渡します。",
      en: "Gives any provider its credentials as environment variables or files."
    },
    authModes: [
      { id: "env", label: { ja: "環境変数・ファイル", en: "Environment and files" }, values: [], files: [] },
      { id: "none", label: { ja: "認証情報なし", en: "No credentials" }, values: [], files: [] }
    ]
  },
  {
    id: "aws-access-key",
    provider: "hashicorp/aws",
    displayName: { ja: "AWS アクセスキー", en: "AWS access key" },
    description: {
      ja: "IAM ユーザーまたは一時認証情報のキー。",
      en: "Keys of an IAM user or of temporary credentials."
    },
    authModes: [
      {
        id: "access_key",
        label: { ja: "アクセスキー", en: "Access key" },
        values: [
          secret("AWS_ACCESS_KEY_ID", "アクセスキー ID", "Access key ID", true, "access_key"),
          secret("AWS_SECRET_ACCESS_KEY", "シークレットアクセスキー", "Secret access key", true, "secret_key"),
          secret("AWS_SESSION_TOKEN", "セッショントークン", "Session token", false, "token")
        ],
        files: []
      }
    ],
    documentationUrl: "https://search.opentofu.org/provider/hashicorp/aws/latest"
  },
  {
    id: "google-service-account",
    provider: "hashicorp/google",
    displayName: { ja: "Google Cloud サービスアカウント", en: "Google Cloud service account" },
    description: { ja: "サービスアカウントの JSON 鍵ファイル。", en: "The JSON key file of a service account." },
    authModes: [
      {
        id: "service_account",
        label: { ja: "鍵ファイル", en: "Key file" },
        values: [],
        files: [
          {
            name: "credentials.json",
            label: { ja: "JSON 鍵", en: "JSON key" },
            envName: "GOOGLE_APPLICATION_CREDENTIALS",
            required: true
          }
        ]
      }
    ],
    documentationUrl: "https://search.opentofu.org/provider/hashicorp/google/latest"
  },
  {
    id: "azure-service-principal",
    provider: "hashicorp/azurerm",
    displayName: { ja: "Azure サービスプリンシパル", en: "Azure service principal" },
    description: { ja: "アプリ登録のクライアントシークレット。", en: "The client secret of an app registration." },
    authModes: [
      {
        id: "client_secret",
        label: { ja: "クライアントシークレット", en: "Client secret" },
        values: [
          plain("ARM_TENANT_ID", "テナント ID", "Tenant ID", true, "tenant_id"),
          plain("ARM_SUBSCRIPTION_ID", "サブスクリプション ID", "Subscription ID", true, "subscription_id"),
          plain("ARM_CLIENT_ID", "クライアント ID", "Client ID", true, "client_id"),
          secret("ARM_CLIENT_SECRET", "クライアントシークレット", "Client secret", true, "client_secret")
        ],
        files: []
      }
    ],
    documentationUrl: "https://search.opentofu.org/provider/hashicorp/azurerm/latest"
  },
  {
    id: "cloudflare-token",
    provider: "cloudflare/cloudflare",
    displayName: { ja: "Cloudflare API トークン", en: "Cloudflare API token" },
    description: {
      ja: "必要な権限だけのトークンを使ってください。",
      en: "Use a token with just the permissions needed."
    },
    authModes: [
      {
        id: "api_token",
        label: { ja: "API トークン", en: "API token" },
        values: [secret("CLOUDFLARE_API_TOKEN", "API トークン", "API token", true, "api_token")],
        files: []
      }
    ],
    documentationUrl: "https://search.opentofu.org/provider/cloudflare/cloudflare/latest"
  },
  {
    id: "git-https-token",
    provider: "git",
    displayName: { ja: "Git（HTTPS トークン）", en: "Git over HTTPS" },
    description: { ja: "非公開リポジトリを読むためのトークン。", en: "A token that may read a private repository." },
    authModes: [
      {
        id: "token",
        label: { ja: "トークン", en: "Token" },
        values: [plain("username", "ユーザー名", "User name", false), secret("token", "トークン", "Token", true)],
        files: []
      }
    ]
  },
  {
    id: "forge-github",
    provider: "github",
    displayName: { ja: "GitHub（プルリクエスト）", en: "GitHub pull requests" },
    description: {
      ja: "プルリクエストを読み、コメントとステータスを書き込みます。コードへの書き込み権限は不要です。",
      en: "Reads pull requests and writes comments and statuses. Needs no permission to write code."
    },
    authModes: [
      {
        id: "app",
        label: { ja: "GitHub App", en: "GitHub App" },
        values: [
          plain("app_id", "App ID", "App id", true),
          plain("installation_id", "インストール ID", "Installation id", false)
        ],
        files: [{ name: appKeyFile, label: { ja: "秘密鍵（PEM）", en: "Private key (PEM)" }, required: true }]
      },
      {
        id: "token",
        label: { ja: "トークン", en: "Token" },
        values: [secret("token", "トークン", "Token", true)],
        files: []
      }
    ],
    documentationUrl: "https://docs.github.com/en/apps/creating-github-apps"
  },
  {
    id: "forge-gitlab",
    provider: "gitlab",
    displayName: { ja: "GitLab（マージリクエスト）", en: "GitLab merge requests" },
    description: {
      ja: "スコープ api、Developer ロールのプロジェクトまたはグループのアクセストークン。",
      en: "An access token of a project or group with the scope api and the Developer role."
    },
    authModes: [
      {
        id: "token",
        label: { ja: "トークン", en: "Token" },
        values: [secret("token", "トークン", "Token", true)],
        files: []
      }
    ],
    documentationUrl: "https://docs.gitlab.com/user/project/settings/project_access_tokens/"
  },
  {
    id: "forge-forgejo",
    provider: "forgejo",
    displayName: { ja: "Forgejo・Gitea（プルリクエスト）", en: "Forgejo or Gitea pull requests" },
    description: {
      ja: "スコープ write:repository、write:issue、read:user のトークン。",
      en: "A token with the scopes write:repository, write:issue and read:user."
    },
    authModes: [
      {
        id: "token",
        label: { ja: "トークン", en: "Token" },
        values: [secret("token", "トークン", "Token", true)],
        files: []
      }
    ],
    documentationUrl: "https://forgejo.org/docs/latest/user/token-scope/"
  }
]

const isForgeKind = Schema.is(ForgeKind)

/** Returns true for recipes of forges. The provider of a forge recipe is the kind of forge, such as `github`. */
export const isForgeRecipe = ({ provider }: Pick<CredentialRecipe, "provider">): boolean => isForgeKind(provider)

/** Returns the provider arguments that correspond to environment variables, for recipes that define them. */
export const argumentNames = (recipeId: string): Readonly<Record<string, string>> => {
  const recipe = credentialRecipes.find((candidate) => candidate.id === recipeId)
  const names: Record<string, string> = {}
  for (const mode of recipe?.authModes ?? []) {
    for (const value of mode.values) if (value.argument !== undefined) names[value.name] = value.argument
  }
  return names
}
