const maven = 'mvn -q -B org.apache.maven.plugins:maven-dependency-plugin:3.9.0';
const npm = 'npm install --silent --no-audit --no-fund typescript@5.9.3 @types/node@24.19.2 esbuild@0.28.2';
const pip = 'python3 -m venv venv; venv/bin/pip install -q --disable-pip-version-check';

const openApiGenerator = (language: string) =>
  `${maven}:copy -Dartifact=org.openapitools:openapi-generator-cli:$VERSION -DoutputDirectory=jar
  java -jar jar/*.jar generate -i $DOCUMENT -g ${language} -o client`;

type Program = [compile: string, run: string];
const go: Program = ['go build -mod=mod -o program .', './program'];
const python: Program = ['venv/bin/python -m compileall -q client', 'venv/bin/python program.py'];
const typescript: Program = [
  `npx tsc --noEmit --strict --target es2022 --module preserve --types node program.ts
  npx esbuild program.ts --bundle --platform=node --format=esm --outfile=program.mjs --log-level=error`,
  'node program.mjs',
];

/**
 * The generators by name and version, each with three texts of shell lines. They run in a copy of the folder of its name in
 * docs/api/generated-clients, with VERSION and DOCUMENT set. The last line of the first is the generator's.
 */
export const generators: Record<string, [generate: string, ...Program]> = {
  'java 7.25.0': [
    openApiGenerator('java'),
    `mv Program.java client/src/main/java; cd client
    ${maven}:build-classpath compile -Dmdep.outputFile=path`,
    'java -cp client/target/classes:$(cat client/path) Program',
  ],
  'go 7.25.0': [
    openApiGenerator('go'),
    'mkdir client/cmd; mv main.go client/cmd; cd client; go build -mod=mod -o ../program ./cmd',
    './program',
  ],
  'python 7.25.0': [
    openApiGenerator('python'),
    `${pip} urllib3==2.8.0 python-dateutil==2.9.0.post0 pydantic==2.14.4 typing-extensions==4.16.0
    mv client/openapi_client .; venv/bin/python -m compileall -q openapi_client`,
    python[1],
  ],
  'typescript-fetch 7.25.0': [`${npm}\n${openApiGenerator('typescript-fetch')}`, ...typescript],
  'rust 7.25.0': [
    openApiGenerator('rust'),
    `cargo init -q --bin --name program --vcs none; cargo add -q --path client
    cargo add -q tokio@=1.48.0 --features macros,rt; cargo add -q reqwest@=0.13.1 --no-default-features
    cargo build -q`,
    'target/debug/program',
  ],
  'oapi-codegen 2.8.2': [
    `go mod init program; go get github.com/oapi-codegen/runtime@v1.9.0; mkdir api
    go run github.com/oapi-codegen/oapi-codegen/v2/cmd/oapi-codegen@v$VERSION -generate types,client -package api -o api/api.go $DOCUMENT`,
    ...go,
  ],
  'ogen 1.24.0': [
    `go mod init program; go get github.com/ogen-go/ogen@v$VERSION
    go run github.com/ogen-go/ogen/cmd/ogen@v$VERSION --target api --package api $DOCUMENT`,
    ...go,
  ],
  'openapi-python-client 0.29.1': [
    `${pip} openapi-python-client==$VERSION httpx==0.28.1 attrs==26.1.0; PATH=$PWD/venv/bin:$PATH
    openapi-python-client generate --path $DOCUMENT --meta none --output-path client --fail-on-warning`,
    ...python,
  ],
  'hey-api 0.99.0': [
    `${npm} @hey-api/openapi-ts@$VERSION
    npx openapi-ts -i $DOCUMENT -o client`,
    ...typescript,
  ],
  'orval 8.38.0': [
    `${npm} orval@$VERSION zod@4.6.7
    npx orval --fail-on-warnings`,
    ...typescript,
  ],
  'openapi-typescript 7.13.0': [
    `${npm} openapi-typescript@$VERSION openapi-fetch@0.17.0
    npx openapi-typescript $DOCUMENT -o schema.d.ts`,
    ...typescript,
  ],
};
