/** The palette's texts for Runs and ids. */
export const paletteWords = {
  en: {
    hint: "Name, commit or id of a capsule, source, connection or run…",
    runs: "Runs",
    searching: "Searching…",
    unknownId: "Nothing in this workspace has this id."
  },
  ja: {
    hint: "カプセル、ソース、接続、実行の名前・コミット・ID…",
    runs: "実行",
    searching: "検索しています…",
    unknownId: "このワークスペースに、この ID のものはありません。"
  }
}
