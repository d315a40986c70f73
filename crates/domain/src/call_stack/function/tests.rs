//! The forms of function names in call stacks.

use super::reduce;

/// Decision I4.
#[test]
fn functions_lose_what_differs_between_builds_and_crashes() {
    for (function, reduced) in [
        ("Spooler::render", "Spooler::render"),
        ("Spooler::render+0x1c", "Spooler::render"),
        ("Spooler::render(int) + 29", "Spooler::render"),
        ("void Spooler::render<Page, std::vector<int>>(Page const&, int) const", "Spooler::render"),
        ("std::vector<int, std::allocator<int> >::push_back(int&&)", "std::vector::push_back"),
        ("(anonymous namespace)::level(int)", "level"),
        ("`anonymous namespace'::level", "level"),
        ("Page::operator<(Page const&) const", "Page::operator<"),
        ("Page::operator<<int>(int)", "Page::operator<"),
        ("Page::operator<< <int>(int)", "Page::operator<<"),
        ("Page::operator()(int)", "Page::operator()"),
        ("Page::operator[](int)", "Page::operator[]"),
        ("operator new(unsigned long)", "operator new"),
        ("Spooler::render(int)::{lambda(int)#1}::operator()(int) const", "Spooler::render"),
        ("Spooler::render::<lambda_5f2c1b0a9d8e7f60>::operator()", "Spooler::render"),
        ("draw(Page*) [clone .cold]", "draw"),
        ("draw.part.0", "draw"),
        ("abort@@GLIBC_2.2.5", "abort"),
        ("_ZN7Spooler6renderEi", "Spooler::render"),
        ("_ZN3rip7spooler6render17h0123456789abcdefE", "rip::spooler::render"),
        ("rip::spooler::render::h0123456789abcdef", "rip::spooler::render"),
        ("rip::render::{{closure}}", "rip::render"),
        ("<rip::Spooler as core::ops::drop::Drop>::drop", "rip::Spooler::drop"),
        ("core::ptr::drop_in_place<alloc::vec::Vec<u8>>", "core::ptr::drop_in_place"),
        ("Acme.Spooler.<RenderAsync>d__12.MoveNext()", "Acme.Spooler.RenderAsync"),
        ("Acme.Spooler.<>c__DisplayClass3_0.<Render>b__0(Page page)", "Acme.Spooler.Render"),
        ("Acme.Spooler.<>c.<<Render>b__3_0>d.MoveNext()", "Acme.Spooler.Render"),
        ("Acme.Spooler.<Render>g__Level|3_0(Int32 page)", "Acme.Spooler.Render"),
        ("Program.<Main>$(String[] args)", "Program.Main"),
        ("System.Collections.Generic.List`1.get_Item(Int32 index)", "System.Collections.Generic.List.get_Item"),
        ("Acme.Spooler..ctor(Page page)", "Acme.Spooler..ctor"),
        ("Acme.Map[TKey,TValue].Find(TKey key)", "Acme.Map.Find"),
        ("com.acme.Spooler.lambda$render$0", "com.acme.Spooler.render"),
        ("com.acme.Spooler$1.run", "com.acme.Spooler.run"),
        ("com.acme.Spooler$Page.draw", "com.acme.Spooler$Page.draw"),
        ("com.acme.Spooler$$Lambda$14/0x0000000800c03000.run", "com.acme.Spooler.run"),
        ("TSpooler.Render$1", "TSpooler.Render"),
        ("-[Spooler render:]", "-[Spooler render:]"),
        ("__27-[Spooler render:]_block_invoke_2", "-[Spooler render:]"),
        ("closure #1 in Spooler.render(page:)", "Spooler.render"),
        ("static Spooler.render(page: Int) -> Bool", "Spooler.render"),
        ("load_5f2c1b0a9d8e", "load_#"),
        ("g\u{a0}Prüfe", "Prüfe"),
    ] {
        assert_eq!(reduce(function).as_deref(), Some(reduced), "{function}");
    }
}

#[test]
fn what_is_no_name_is_no_function() {
    for text in ["", "0x00007ff61a2b3c4d", "00007ff61a2b3c4d", "???", "??", "(int)", "<unknown>"] {
        assert_eq!(reduce(text), None, "{text}");
    }
}
