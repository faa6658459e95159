//===- TDSL.g4 - the language of .tdsl files ----------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===---------------------------------------------------------------------===//
//
// docs/reference/language.md explains these rules. The grammar has no embedded actions;
// lib/Frontend/TreeBuilder.cpp turns its tree into the one of Frontend/Ast.h.
//
// A token of one spelling is written by that spelling, so that error messages
// can quote it. Every decision needs one token of lookahead, but a named
// argument and result, which need two.
//
//===---------------------------------------------------------------------===//

grammar TDSL;

// A file is a set of blocks: their order does not matter, except that a config
// value may only use those above it. What is imported comes first.
file : importStatement* (config | constant | inlined | function)* EOF ;

importStatement : 'import' STRING ';' ;

config : 'config' '{' configEntry* '}' ;

configEntry : NAME '=' expression ';' ;

// A value without inputs that all blocks can use.
constant : 'const' NAME '=' value ';' ;

// A function of values and numbers, which is inlined where it is called.
inlined : 'fn' NAME '(' (NAME (',' NAME)*)? ')' block ;

// kernel: one MIL program. layer: a block with weights that a model repeats.
// model: the composition that is trained.
function
  : ('kernel' | 'layer' | 'model') NAME
    '(' (parameter (',' parameter)*)? ')' '->' results block
  ;

parameter : NAME ':' type ;

// Several results, and those with names, stand in parentheses.
results : type | '(' result (',' result)* ')' ;

result : (NAME ':')? type ;

// `fp16[dim, seq]`; without extents, a scalar.
type : NAME ('[' expression (',' expression)* ']')? ;

block : '{' statement* '}' ;

statement
  : weightStatement
  | repeatStatement
  | returnStatement
  | letStatement
  ;

// `weight wk, wv: fp16[dim, dim], g: fp16[dim];` declares one weight for each
// name.
weightStatement : 'frozen'? 'weight' weights (',' weights)* ';' ;

weights : NAME (',' NAME)* ':' type ;

// `repeat i in 0..layers { ... }`; the upper end is not included.
repeatStatement
  : 'repeat' NAME 'in' expression '..' expression block
  ;

returnStatement : 'return' expression (',' expression)* ';' ;

// Several names take the results of an op or layer that has several. `const`
// says that the value has no inputs.
letStatement : 'const'? NAME (',' NAME)* '=' value ';' ;

// Operators of one level associate to the left. Levels are lists rather than
// left-recursive rules, so that a long chain is not a deep tree.
expression : conjunction ('or' conjunction)* ;

conjunction : inversion ('and' inversion)* ;

inversion : 'not' inversion | comparison ;

// A second comparison is reported when the tree is built.
comparison : sum (('<' | '<=' | '>' | '>=' | '==' | '!=') sum)* ;

sum : product (('+' | '-') product)* ;

product : negation (('*' | '/' | '@') negation)* ;

negation : '-' negation | power ;

// `x ** 2`; `x ** -0.5`.
power : primary ('**' '-'? primary)? ;

primary
  : INTEGER
  | DECIMAL
  | STRING
  | 'true'
  | 'false'
  | list
  | group
  | reference
  ;

list : '[' (expression (',' expression)*)? ']' ;

group : '(' value ')' index* ;

// `0.5: fp16`, a literal with its element type. Not in brackets, where `:` makes
// a range: there, it stands in parentheses.
value : expression (':' NAME)? ;

// A name; a part of a value; a call; a call of one instance of a repeated layer;
// or a part of what a call gives.
reference : NAME index* (arguments index*)? ;

index : '[' position (',' position)* ']' ;

// `2`, `0:4`, `1:`, `:-1` or `:`.
position : expression range? | range ;

range : ':' expression? ;

arguments : '(' (argument (',' argument)*)? ')' ;

argument : (parameterName '=')? value ;

// Some ops have parameters that are called like a keyword.
parameterName : NAME | 'weight' ;

IMPORT : 'import' ;
CONFIG : 'config' ;
FN     : 'fn' ;
KERNEL : 'kernel' ;
LAYER  : 'layer' ;
MODEL  : 'model' ;
FROZEN : 'frozen' ;
WEIGHT : 'weight' ;
REPEAT : 'repeat' ;
IN     : 'in' ;
RETURN : 'return' ;
CONST  : 'const' ;
AND    : 'and' ;
OR     : 'or' ;
NOT    : 'not' ;
YES    : 'true' ;
NO     : 'false' ;

LEFT_PAREN    : '(' ;
RIGHT_PAREN   : ')' ;
LEFT_BRACKET  : '[' ;
RIGHT_BRACKET : ']' ;
LEFT_BRACE    : '{' ;
RIGHT_BRACE   : '}' ;
SEMICOLON     : ';' ;
COMMA         : ',' ;
COLON         : ':' ;
EQUALS        : '=' ;
ARROW         : '->' ;
RANGE         : '..' ;
PLUS          : '+' ;
MINUS         : '-' ;
STAR          : '*' ;
SLASH         : '/' ;
AT            : '@' ;
POWER         : '**' ;
LESS          : '<' ;
LESS_EQUAL    : '<=' ;
GREATER       : '>' ;
GREATER_EQUAL : '>=' ;
EQUAL         : '==' ;
NOT_EQUAL     : '!=' ;

INTEGER : DIGIT+ ;
DECIMAL : DIGIT+ '.' DIGIT+ EXPONENT? | DIGIT+ EXPONENT ;
STRING  : '"' ~["\r\n]* '"' ;
NAME    : [a-zA-Z_] [a-zA-Z0-9_]* ;

COMMENT : '//' ~[\r\n]* -> channel(HIDDEN) ;
SPACE   : [ \t\r\n]+ -> skip ;

// What no rule above takes: reported before parsing starts, and hidden from
// the parser.
BAD_NUMBER  : DIGIT+ ('.' DIGIT+)? [a-zA-Z_] [a-zA-Z0-9_]* -> channel(HIDDEN) ;
OPEN_STRING : '"' ~["\r\n]* -> channel(HIDDEN) ;
UNKNOWN     : . -> channel(HIDDEN) ;

fragment DIGIT    : [0-9] ;
fragment EXPONENT : [eE] [+-]? DIGIT+ ;
