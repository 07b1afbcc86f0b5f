const en = {
  about: "This link offers a choice of sources, from a document in a repository.",
  document: "Document",
  git: "Repository",
  requested: "Requested revision",
  newest: "Newest stable version",
  newestFound: (tag: string) => `${tag}, the newest stable version`,
  commit: "Commit",
  path: "File",
  digest: "Digest",
  size: "Size",
  read: "Read the document",
  reading: "Reading the document…",
  readNote:
    "Nothing was read yet. This adds the repository to the sources of the workspace and reads one commit of it.",
  refused: "The document cannot be used",
  refusedText: "svc uses nothing of it. Contact the author of the link.",
  choose: "Choose a source",
  proceed: "Continue with this source"
}

const ja: typeof en = {
  about: "このリンクは、リポジトリ内の文書からソースを選択するためのものです。",
  document: "文書",
  git: "リポジトリ",
  requested: "指定されたリビジョン",
  newest: "最新の安定版",
  newestFound: (tag: string) => `${tag}（最新の安定版）`,
  commit: "コミット",
  path: "ファイル",
  digest: "ダイジェスト",
  size: "サイズ",
  read: "文書を読み込む",
  reading: "文書を読み込んでいます…",
  readNote:
    "まだ何も読み込まれていません。リポジトリがワークスペースのソースに追加され、1 つのコミットが読み込まれます。",
  refused: "この文書は使用できません",
  refusedText: "内容は一切使用されません。リンクの作成者に連絡してください。",
  choose: "ソースを選択",
  proceed: "このソースで続行"
}

export const sourceOptionsWords = { en, ja }
