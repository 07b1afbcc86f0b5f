const en = {
  title: "README",
  about: (path: string, commit: string) => `${path} of the adopted commit ${commit}`,
  none: "No README",
  noneText: "The module of the adopted commit has no README.md.",
  notAdopted: "Nothing applied yet",
  notAdoptedText: "The module's README appears after the first apply.",
  tooLarge: "The README is larger than 128 KiB. Read it in the repository.",
  unreadable: "The README is not a text file in UTF-8.",
  cut: "The rest of this README is not shown: it is too long.",
  image: (text: string) => (text === "" ? "Image" : `Image: ${text}`)
}

const ja: typeof en = {
  title: "README",
  about: (path: string, commit: string) => `適用済みコミット ${commit} の ${path}`,
  none: "README はありません",
  noneText: "適用済みコミットのモジュールに README.md がありません。",
  notAdopted: "まだ何も適用されていません",
  notAdoptedText: "モジュールの README は、コミットの適用後に表示されます。",
  tooLarge: "README が 128 KiB を超えています。リポジトリでご覧ください。",
  unreadable: "README が UTF-8 のテキストではありません。",
  cut: "README が長すぎるため、以降は表示していません。",
  image: (text: string) => (text === "" ? "画像" : `画像: ${text}`)
}

export const readmeWords = { en, ja }
