// Writes src/document.ts: the types of what the page reads, from the JSON schemas in docs/schema. A schema is named after
// its $id ("infermeter.run/1": Run), a definition after its key ("operator_table": OperatorTable), an object inside of one
// after its title, where it has one.
import { readFile, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const here = dirname(fileURLToPath(import.meta.url));
const schemas = ["report", "run", "gate", "validation", "variants", "layers", "history"];
const pascal = (key) => key.replace(/(?:^|_)([a-z0-9])/g, (_, letter) => letter.toUpperCase());

class Types {
  texts = new Map(); // by name, in the order in which they were met
  nullable = new Set(); // names of definitions that may be null: the type is of what else they are

  // Definitions that several schemas repeat are one type; what only shares its name is an error.
  add(name, node, file) {
    const text = this.declaration(name, node, file);
    const there = this.texts.get(name);
    if (there === undefined) this.texts.set(name, text);
    else if (withoutComments(there) !== withoutComments(text)) throw new Error(`${name} is defined twice, in ${file}.schema.json otherwise`);
  }

  declaration(name, node, file) {
    const about = node.description === undefined ? "" : `// ${node.description}\n`;
    const kept = isNullable(node) ? node.oneOf.find((each) => each.type !== "null") : node;
    const type = this.type(kept, file, "");
    return `${about}export ${isObject(kept) ? `interface ${name} ${type}` : `type ${name} = ${type};`}\n`;
  }

  type(node, file, indent) {
    if (node.title !== undefined && indent !== "") return this.titled(node, file);
    if (node.$ref !== undefined) return this.reference(nameOf(node.$ref, file));
    if (node.const !== undefined) return JSON.stringify(node.const);
    if (node.enum !== undefined) return node.enum.map((each) => JSON.stringify(each)).join(" | ");
    if (node.oneOf !== undefined) return this.either(node.oneOf.map((each) => this.type(each, file, indent)));
    if (isObject(node)) return this.either([this.object(node, file, indent), ...[node.type].flat().slice(1)]);
    return this.either([node.type].flat().map((type) => this.plain(type, node, file, indent)));
  }

  titled(node, file) {
    const [type, ...others] = [node.type].flat();
    this.add(node.title, { ...node, type, description: undefined }, file);
    return this.either([node.title, ...others]);
  }

  reference(name) {
    return this.nullable.has(name) ? `${name} | null` : name;
  }

  // null comes last, as people write it.
  either(types) {
    const unique = [...new Set(types.flatMap((type) => (type.includes("{") ? [type] : type.split(" | "))))];
    return [...unique.filter((type) => type !== "null"), ...unique.filter((type) => type === "null")].join(" | ");
  }

  plain(type, node, file, indent) {
    if (type === "array") return this.array(node.items, file, indent);
    if (type === "integer") return "number";
    if (type !== "object") return type;
    const value = typeof node.additionalProperties === "object" ? this.type(node.additionalProperties, file, indent) : "unknown";
    return `Record<string, ${value}>`;
  }

  array(items, file, indent) {
    const item = items === undefined ? "unknown" : this.type(items, file, indent);
    return withoutObjects(item).includes(" | ") ? `(${item})[]` : `${item}[]`;
  }

  object(node, file, indent) {
    const required = new Set(node.required ?? []);
    const fields = Object.entries(node.properties).map(([key, value]) => {
      const about = value.description === undefined ? "" : ` // ${value.description}`;
      return `${indent}  ${key}${required.has(key) ? "" : "?"}: ${this.type(value, file, `${indent}  `)};${about}\n`;
    });
    return `{\n${fields.join("")}${indent}}`;
  }
}

const isObject = (node) => node.properties !== undefined;
const isNullable = (node) => node.oneOf?.length === 2 && node.oneOf.some((each) => each.type === "null");
const withoutObjects = (type) => type.replace(/\{[^]*\}/, "");
const withoutComments = (text) => text.replaceAll(/ ?\/\/ .*/g, "");

// "#/$defs/interval": Interval, "#/$defs/answer/properties/topic": Answer["topic"], "../infermeter.run/1": Run.
function nameOf(reference, file) {
  const [schema, path] = reference.split("#");
  if (path === undefined) return pascal(schema.replace(/^.*infermeter\./, "").replace(/\/\d+$/, ""));
  const [name, ...steps] = path.replace("/$defs/", "").split("/");
  if (!path.startsWith("/$defs/")) throw new Error(`${file}.schema.json refers to ${reference}: only its definitions have names`);
  let type = pascal(name);
  for (let i = 0; i < steps.length; i += 1) type += steps[i] === "items" ? "[number]" : `[${JSON.stringify(steps[(i += 1)])}]`;
  return type;
}

const types = new Types();
const read = [];
for (const file of schemas) read.push([file, JSON.parse(await readFile(join(here, "..", "docs", "schema", `${file}.schema.json`), "utf8"))]);
const named = read.flatMap(([file, schema]) => [[file, file, schema], ...Object.entries(schema.$defs).map(([key, node]) => [file, key, node])]);
for (const [, key, node] of named) if (isNullable(node)) types.nullable.add(pascal(key));
for (const [file, key, node] of named) types.add(pascal(key), node, file);
const text = `// Made by web/types.mjs from docs/schema/*.schema.json.\n\n${[...types.texts.values()].join("\n")}`;
await writeFile(process.argv[2] ?? join(here, "src", "document.ts"), text);
