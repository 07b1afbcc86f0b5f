import type { KnownText, OtherComponent } from "./OtherComponents.ts"

const inBun = "linked into the Bun runtime, of which compiled binaries are made"

const mit = (copyright: string): KnownText => ({ file: "licenses/MIT.txt", copyright })
const apache = (copyright: string): KnownText => ({ file: "LICENSE", copyright })
const bsd2 = (copyright: string): KnownText => ({ file: "licenses/BSD-2-Clause.txt", copyright })
const bsd3 = (copyright: string): KnownText => ({ file: "licenses/BSD-3-Clause.txt", copyright })
const zlib = (copyright: string): KnownText => ({ file: "licenses/Zlib.txt", copyright })

const linked = (name: string, license: string, source: string, ...texts: OtherComponent["texts"]): OtherComponent => ({
  name: `${name}, in Bun`,
  license,
  origin: `https://${source}, ${inBun}`,
  texts
})

/** Describes a Node.js package that Bun uses in place of a module that Bun does not implement. */
const polyfill = (name: string, copyright: string): OtherComponent => ({
  name: `${name}, in Bun`,
  license: "MIT",
  origin: `npm package ${name}, a polyfill inside the Bun runtime`,
  texts: [mit(copyright)]
})

const joyent = "Copyright Joyent, Inc. and other Node contributors."
const halliday = "Copyright (c) James Halliday"

/** The runtime and all code linked into it, as listed in the LICENSE.md of the runtime. */
export const runtimeComponents: ReadonlyArray<OtherComponent> = [
  {
    name: "Bun",
    license: "MIT",
    origin: "https://github.com/oven-sh/bun, the runtime of which compiled binaries are made",
    texts: [mit("Copyright (c) the authors of Bun")]
  },
  {
    name: "JavaScriptCore and WebKit, in Bun",
    license: "LGPL-2.0-or-later",
    origin: `https://github.com/oven-sh/WebKit, ${inBun}; NOTICE explains how to replace them`,
    texts: [{ file: "licenses/LGPL-2.0.txt" }]
  },
  {
    name: "TinyCC, in Bun",
    license: "LGPL-2.1-or-later",
    origin: `https://repo.or.cz/tinycc.git, ${inBun}; NOTICE explains how to replace it`,
    texts: [{ file: "licenses/LGPL-2.1.txt" }]
  },
  linked("SQLite", "blessing", "sqlite.org", { file: "licenses/SQLite.txt" }),
  linked(
    "BoringSSL",
    "Apache-2.0 AND ISC AND MIT AND OpenSSL",
    "boringssl.googlesource.com/boringssl",
    apache("Copyright the OpenSSL Project Authors and the BoringSSL Authors"),
    { file: "licenses/OpenSSL.txt" },
    { file: "licenses/ISC.txt", copyright: "Copyright (c) 2014-2024, Google Inc." },
    mit("Copyright (c) 2015-2020 the fiat-crypto authors")
  ),
  linked(
    "brotli",
    "MIT",
    "github.com/google/brotli",
    mit("Copyright (c) 2009, 2010, 2013-2016 by the Brotli Authors.")
  ),
  linked(
    "c-ares",
    "MIT",
    "github.com/c-ares/c-ares",
    mit(
      "Copyright (c) 1998 Massachusetts Institute of Technology\nCopyright (c) 2007 - 2023 Daniel Stenberg with many contributors, see AUTHORS file."
    )
  ),
  linked("highway", "Apache-2.0", "github.com/google/highway", apache("Copyright 2019-2024 Google LLC")),
  linked("ICU", "Unicode-3.0", "github.com/unicode-org/icu", { file: "licenses/ICU.txt" }),
  linked(
    "libarchive",
    "BSD-2-Clause AND BSD-3-Clause",
    "github.com/libarchive/libarchive",
    bsd2("Copyright (c) 2003-2018 Tim Kientzle and other authors\nAll rights reserved."),
    bsd3("Copyright (c) 1991, 1993 The Regents of the University of California.  All rights reserved.")
  ),
  linked(
    "libbase64",
    "BSD-2-Clause",
    "github.com/aklomp/base64",
    bsd2(
      "Copyright (c) 2005-2007, Nick Galbreath\nCopyright (c) 2015-2018, Wojciech Muła\nCopyright (c) 2016-2017, Matthieu Darbois\nCopyright (c) 2013-2022, Alfred Klomp\nAll rights reserved."
    )
  ),
  linked(
    "libdeflate",
    "MIT",
    "github.com/ebiggers/libdeflate",
    mit("Copyright 2016 Eric Biggers\nCopyright 2024 Google LLC")
  ),
  linked(
    "libjpeg-turbo",
    "BSD-3-Clause AND IJG AND Zlib",
    "github.com/libjpeg-turbo/libjpeg-turbo",
    {
      file: "licenses/IJG.txt",
      copyright: "This software is based in part on the work of the Independent JPEG Group."
    },
    bsd3("Copyright (C) 2009-2025 D. R. Commander.  All Rights Reserved.\nCopyright (C) 2015 Viktor Szathmáry."),
    zlib("Copyright (C) 2009-2025 the authors of libjpeg-turbo")
  ),
  linked("libspng", "BSD-2-Clause", "github.com/randy408/libspng", bsd2("Copyright (c) 2018-2023, Randy")),
  linked("libuv", "MIT", "github.com/libuv/libuv", mit("Copyright (c) 2015-present libuv project contributors.")),
  linked(
    "libwebp",
    "BSD-3-Clause",
    "github.com/webmproject/libwebp",
    bsd3("Copyright (c) 2010, Google Inc. All rights reserved.")
  ),
  linked(
    "LLVM libc++abi",
    "Apache-2.0 WITH LLVM-exception",
    "github.com/llvm/llvm-project",
    apache("Copyright (c) 2009-2024 by the contributors listed in CREDITS.TXT of the LLVM Project"),
    { file: "licenses/LLVM-exception.txt" }
  ),
  linked(
    "lol-html",
    "BSD-3-Clause",
    "github.com/cloudflare/lol-html",
    bsd3("Copyright (C) 2019, Cloudflare, Inc.\nAll rights reserved.")
  ),
  linked(
    "ls-hpack and ls-qpack",
    "MIT",
    "github.com/litespeedtech",
    mit("Copyright (c) 2018 - 2023 LiteSpeed Technologies Inc")
  ),
  linked(
    "lsquic",
    "MIT AND BSD-3-Clause",
    "github.com/litespeedtech/lsquic",
    mit("Copyright (c) 2017 - 2024 LiteSpeed Technologies Inc"),
    bsd3("Copyright 2015 The Chromium Authors. All rights reserved.")
  ),
  linked(
    "mimalloc",
    "MIT",
    "github.com/microsoft/mimalloc",
    mit("Copyright (c) 2018-2025 Microsoft Corporation, Daan Leijen")
  ),
  linked(
    "picohttpparser",
    "MIT",
    "github.com/h2o/picohttpparser",
    mit("Copyright (c) 2009-2014 Kazuho Oku, Tokuhiro Matsuno, Daisuke Murase, Shigeo Mitsunari")
  ),
  linked("simdutf", "Apache-2.0", "github.com/simdutf/simdutf", apache("Copyright 2021 The simdutf authors")),
  linked(
    "TigerBeetle (input and output)",
    "Apache-2.0",
    "github.com/tigerbeetle/tigerbeetle",
    apache("Copyright the authors of TigerBeetle")
  ),
  linked(
    "uSockets and uWebSockets",
    "Apache-2.0",
    "github.com/uNetworking/uSockets",
    apache("Copyright the authors of uSockets and uWebSockets")
  ),
  linked("uucode", "MIT", "github.com/jacobsandlund/uucode", mit("Copyright (c) the authors of uucode")),
  linked("zlib-ng", "Zlib", "github.com/zlib-ng/zlib-ng", zlib("(C) 1995-2024 Jean-loup Gailly and Mark Adler")),
  linked(
    "zstd",
    "BSD-3-Clause",
    "github.com/facebook/zstd",
    bsd3("Copyright (c) Meta Platforms, Inc. and affiliates. All rights reserved.")
  ),
  linked("esbuild (ported)", "MIT", "github.com/evanw/esbuild", mit("Copyright (c) 2020 Evan Wallace")),
  polyfill("acorn", "Copyright (C) 2012-2022 by various contributors (see AUTHORS)"),
  polyfill("acorn-walk", "Copyright (C) 2012-2020 by various contributors (see AUTHORS)"),
  polyfill("assert", joyent),
  polyfill("browserify-zlib", "Copyright (c) 2014-2015 Devon Govett\nCopyright Node.js contributors."),
  polyfill("buffer", "Copyright (c) Feross Aboukhadijeh, and other contributors."),
  polyfill("constants-browserify", "Copyright (c) 2013 Julian Gruber"),
  polyfill("crypto-browserify", "Copyright (c) 2013 Dominic Tarr"),
  polyfill("domain-browser", "Copyright Benjamin Lupton"),
  polyfill("events", joyent),
  polyfill("https-browserify", halliday),
  polyfill("os-browserify", "Copyright (c) 2017 CoderPuppy"),
  polyfill("path-browserify", "Copyright (c) 2013 James Halliday"),
  polyfill("process", "Copyright (c) 2013 Roman Shtylman"),
  polyfill("punycode", "Copyright Mathias Bynens"),
  polyfill("querystring-es3", joyent),
  polyfill("stream-browserify", halliday),
  polyfill("stream-http", "Copyright (c) 2015 John Hiesey"),
  polyfill("string_decoder", joyent),
  polyfill("timers-browserify", `Copyright (c) 2012 J. Ryan Stinnett\n${joyent}`),
  polyfill("tty-browserify", halliday),
  polyfill("url", joyent),
  polyfill("util", joyent),
  polyfill("vm-browserify", halliday)
]
