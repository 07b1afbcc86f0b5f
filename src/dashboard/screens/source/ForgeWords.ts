/** The Git servers for which there are instructions, identified by the names of their pages in `docs/webhooks`. */
export const forges = ["github", "gitlab", "forgejo-gitea", "bitbucket", "azure-devops", "plain"] as const
export type Forge = (typeof forges)[number]

const hosts: ReadonlyArray<readonly [RegExp, Forge]> = [
  [/github/, "github"],
  [/gitlab/, "gitlab"],
  [/forgejo|gitea|codeberg|gogs/, "forgejo-gitea"],
  [/bitbucket/, "bitbucket"],
  [/(?:^|\.)dev\.azure\.com$|\.visualstudio\.com$/, "azure-devops"]
]

/** Guesses the forge from the host of a repository's address. */
export const forgeOf = (sourceUrl: string): Forge => {
  const host = URL.canParse(sourceUrl) ? new URL(sourceUrl).hostname : ""
  return hosts.find(([pattern]) => pattern.test(host))?.[1] ?? "plain"
}

export const forgeNames = {
  github: "GitHub",
  gitlab: "GitLab",
  "forgejo-gitea": "Forgejo, Gitea",
  bitbucket: "Bitbucket",
  "azure-devops": "Azure DevOps",
  plain: undefined
} satisfies Record<Forge, string | undefined>

const en = {
  forge: "Git server",
  another: "Another server, or a script",
  steps: {
    github: [
      "In the repository, open Settings, Webhooks, Add webhook.",
      "Paste the address as Payload URL, select application/json, and paste the secret.",
      "Select “Just the push event”, and add the webhook.",
      "Recent Deliveries then shows a ping with 200, and 202 after each push."
    ],
    gitlab: [
      "In the project, open Settings, Webhooks, Add new webhook.",
      "Paste the address as URL, and the secret as Secret token. The field Signing token takes the form that begins with whsec_.",
      "Select Push events, and add the webhook.",
      "Test, Push events then shows 202."
    ],
    "forgejo-gitea": [
      "In the repository, open Settings, Webhooks, Add webhook, and choose Forgejo or Gitea.",
      "Paste the address as Target URL, select POST and application/json, and paste the secret. Leave Authorization header empty.",
      "Select Push events, and add the webhook.",
      "Test delivery then shows 202."
    ],
    bitbucket: [
      "In the repository, open Repository settings, Webhooks, Add webhook.",
      "Paste the address as URL, and the secret as Secret.",
      "Select Repository push, and save.",
      "View requests then shows 202 after a push. Some releases do not sign “Test connection”, and it then shows 401."
    ],
    "azure-devops": [
      "In the project, open Project settings, Service hooks, Create subscription, Web Hooks.",
      "Select Code pushed and the repository.",
      "Paste the address as URL, enter svc as the user name, and paste the secret as the password of basic authentication.",
      "Test then shows 202."
    ],
    plain: [
      "Send a POST request to the address after each push. It needs no body.",
      "Send the secret in the header “Authorization: Bearer …”, as the password of HTTP Basic, or sign the body as GitHub does.",
      "The response is 202 and lists the runs that read the repository."
    ]
  } satisfies Record<Forge, ReadonlyArray<string>>,
  more: "Details are in the documentation of this release:"
}

const ja: typeof en = {
  forge: "Git サーバー",
  another: "その他・スクリプト",
  steps: {
    github: [
      "リポジトリの Settings → Webhooks → Add webhook を開きます。",
      "Payload URL にアドレスを貼り付け、application/json を選び、Secret にシークレットを貼り付けます。",
      "「Just the push event」を選んで追加します。",
      "Recent Deliveries に、ping は 200、プッシュのたびに 202 と表示されます。"
    ],
    gitlab: [
      "プロジェクトの Settings → Webhooks → Add new webhook を開きます。",
      "URL にアドレス、Secret token にシークレットを貼り付けます。Signing token には whsec_ で始まる形式を使います。",
      "Push events を選んで追加します。",
      "Test → Push events で 202 と表示されます。"
    ],
    "forgejo-gitea": [
      "リポジトリの Settings → Webhooks → Add webhook で Forgejo または Gitea を選びます。",
      "Target URL にアドレスを貼り付け、POST と application/json を選び、Secret にシークレットを貼り付けます。Authorization header は空のままにします。",
      "Push events を選んで追加します。",
      "Test delivery で 202 と表示されます。"
    ],
    bitbucket: [
      "リポジトリの Repository settings → Webhooks → Add webhook を開きます。",
      "URL にアドレス、Secret にシークレットを貼り付けます。",
      "Repository push を選んで保存します。",
      "プッシュの後、View requests に 202 と表示されます。「Test connection」に署名しない版では、テストだけが 401 になります。"
    ],
    "azure-devops": [
      "プロジェクトの Project settings → Service hooks → Create subscription → Web Hooks を開きます。",
      "Code pushed とリポジトリを選びます。",
      "URL にアドレスを貼り付け、Basic 認証のユーザー名に svc、パスワードにシークレットを設定します。",
      "Test で 202 と表示されます。"
    ],
    plain: [
      "プッシュのたびに、このアドレスへ POST を送ります。本文は不要です。",
      "シークレットは「Authorization: Bearer …」ヘッダー、または HTTP Basic のパスワードとして送ります。GitHub と同じ方法で本文に署名することもできます。",
      "応答は 202 で、リポジトリを確認する実行の一覧が含まれます。"
    ]
  },
  more: "詳細はこのリリースの文書にあります:"
}

export const forgeWords = { en, ja }
