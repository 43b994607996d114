// Writes down what is in the program of each platform that is named, as CycloneDX: the modules and their checksums that Go left in
// it. The program that reads them is fetched and checked by Go, so this is for releases.
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { build, named, programOf, run, version } from './platforms.mjs'

const gomod = 'github.com/CycloneDX/cyclonedx-gomod/cmd/cyclonedx-gomod@v1.9.0'

mkdirSync(join(build, 'sbom'), { recursive: true })
for (const platform of named(process.argv.slice(2))) {
  const sbom = join(build, 'sbom', `${platform.name}.cdx.json`)
  run('go', ['run', gomod, 'bin', '-json', '-std', '-version', `v${version}`, '-output', sbom, programOf(platform)], { env: { ...process.env, CGO_ENABLED: '0', GOFLAGS: '' } })
}
