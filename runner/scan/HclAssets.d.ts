declare module "@cdktn/hcl2json/main.wasm.gz" {
  /** A path or URL, relative to the importing module. */
  const location: string
  export default location
}
