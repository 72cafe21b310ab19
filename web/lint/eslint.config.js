import js from "@eslint/js";
import typescript from "typescript-eslint";

export default [
  js.configs.recommended,
  ...typescript.configs.recommended,
  {
    rules: {
      "no-undef": "off",  // the compiler knows
      "no-control-regex": "off",  // control characters in names are what some of the code is about
    },
  },
];
